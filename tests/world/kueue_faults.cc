// What goes wrong with queues and their jobs.
#include <array>

#include "operator/base/timestamp.h"
#include "tests/world/by_number.h"
#include "tests/world/kueue_cluster.h"

namespace weft::world {
namespace {

// Only Weft sets it (life/reserved_names.h).
constexpr const char* kReservedName = "MASTER_ADDR";

const Json& ContainersOf(const Json& job) {
  return At(job, {"spec", "workers", "template", "spec", "containers"});
}

bool IsSpoilt(const Json& job) {
  return ContainersOf(job).dump().find(kReservedName) != std::string::npos;
}

bool HoldsIt(const Json& workload) {
  return IsTrue(workload, "QuotaReserved") && !IsTrue(workload, "Finished");
}

}  // namespace

// A quarter of the catalogue, up to all of it. What is there twice is as likely as two.
void KueueCluster::ChooseFaults() {
  static const std::vector<Fault> kAll = {
      {"preempt", &KueueCluster::PreemptOne},
      {"preempt", &KueueCluster::PreemptOne},
      {"deactivate", &KueueCluster::Deactivate},
      {"deactivate", &KueueCluster::Deactivate},
      {"delete-workload", &KueueCluster::DeleteWorkload},
      {"change-quota", &KueueCluster::ChangeQuota},
      {"change-flavor", &KueueCluster::ChangeFlavor},
      {"widen-flavor", &KueueCluster::WidenFlavor},
      {"spoil-job", &KueueCluster::SpoilJob},
      {"remake-workload", &KueueCluster::RemakeWorkload},
      {"stop-queue", &KueueCluster::StopQueue},
      {"silence", &KueueCluster::Silence},
      {"restart", &KueueCluster::Restart},
      {"delete-job", &KueueCluster::DeleteJob},
      {"delete-jobs-pod", &KueueCluster::DeleteJobsPod},
  };
  SplitMix64 chance(options_.seed + 4);
  const std::uint64_t share = 1 + chance.Below(4);
  for (const Fault& one : kAll) {
    if (chance.Below(4) < share) chosen_.push_back(one);
  }
}

std::string KueueCluster::Strike(std::size_t number) {
  chance_ = SplitMix64(ByNumber(options_.seed + 3, number));
  if (chosen_.empty()) return "";
  const auto& [name, act] = chosen_[Below(chosen_.size())];
  const std::string what = (this->*act)();
  return what.empty() ? "" : std::string(name) + " " + what;
}

std::shared_ptr<const Json> KueueCluster::AnyWorkload(const std::function<bool(const Json&)>& is) {
  std::vector<std::shared_ptr<const Json>> fit;
  for (const auto& [key, one] : admin_.server().All("workloads.kueue.x-k8s.io")) {
    if (is(*one)) fit.push_back(one);
  }
  return fit.empty() ? nullptr : fit[Below(fit.size())];
}

seconds KueueCluster::Some(std::uint64_t least, std::uint64_t most) {
  return seconds(static_cast<std::int64_t>(least + Below(most - least + 1)));
}

std::string KueueCluster::PreemptOne() {
  const auto one = AnyWorkload(HoldsIt);
  return one && kueue_.Preempt(KeyOf(*one)) ? api::Show(KeyOf(*one)) : "";
}

std::string KueueCluster::Deactivate() {
  const auto one = AnyWorkload([](const Json& workload) { return !IsTrue(workload, "Finished"); });
  if (!one) return "";
  const api::ObjectKey key = KeyOf(*one);
  admin_.Patch(kube::kWorkloads, key, {{"spec", {{"active", false}}}});
  fibers_.After(Some(5, 1'200), [this, key] {
    if (const auto there = admin_.Find(kube::kWorkloads, key)) Activate(*there);
  });
  return api::Show(key);
}

std::string KueueCluster::DeleteWorkload() {
  const auto one = AnyWorkload([](const Json&) { return true; });
  if (!one) return "";
  admin_.Delete(kube::kWorkloads, KeyOf(*one));
  return api::Show(KeyOf(*one));
}

std::string KueueCluster::ChangeQuota() {
  const std::string space = options_.spaces[Below(options_.spaces.size())];
  const auto gpus =
      static_cast<std::int64_t>(8 * Below(static_cast<std::uint64_t>(options_.nodes)));
  SetQuota(space, gpus);
  fibers_.After(Some(10, 1'800), [this, space] { SetQuota(space, options_.nodes * 4); });
  return space + " to " + std::to_string(gpus);
}

void KueueCluster::SetQuota(const std::string& space, std::int64_t gpus) {
  const Json groups = QueueOf(space, gpus)["spec"]["resourceGroups"];
  admin_.Patch(kClusterQueues, {"", space}, {{"spec", {{"resourceGroups", groups}}}});
}

// Its nodes have another label for a while, or it has none.
std::string KueueCluster::ChangeFlavor() {
  const char* label = "nvidia.com/gpu.product";
  const Json value = Below(2) == 0 ? Json(nullptr) : Json("NVIDIA-B200");
  admin_.Patch(kube::kResourceFlavors, {"", "gpu"}, {{"spec", {{"nodeLabels", {{label, value}}}}}});
  fibers_.After(Some(10, 900), [this] { RestoreFlavor(); });
  return value.is_null() ? "no label" : "another label";
}

// It gets a label more, and loses it again while jobs wait for nodes with it.
std::string KueueCluster::WidenFlavor() {
  const auto set = [this](const Json& value) {
    admin_.Patch(kube::kResourceFlavors, {"", "gpu"},
                 {{"spec", {{"nodeLabels", {{"example.com/rack", value}}}}}});
  };
  set("none-has-it");
  fibers_.After(Some(60, 900), [set] { set(nullptr); });
  return "a label more";
}

// A job that has quota and no nodes yet is edited to what is refused, and then Kueue wants the
// quota back. It is put right much later.
std::string KueueCluster::SpoilJob() {
  const auto waits = [this](const Json& workload) {
    const auto job = JobOfWorkload(workload);
    // One that is spoilt already would be put right to what it was then.
    return HoldsIt(workload) && job && !IsTrue(*job, "Placed") && !IsDeleting(*job) &&
           !IsSpoilt(*job);
  };
  OnceThereIs(waits,
              [this](const Json& workload) { Spoil(KeyOf(workload), *JobOfWorkload(workload)); });
  return "the next that waits for nodes";
}

// The TrainingJob that owns it; null: none does.
std::shared_ptr<const Json> KueueCluster::JobOfWorkload(const Json& workload) const {
  for (const Json& owner : At(workload, {"metadata", "ownerReferences"})) {
    if (TextAt(owner, {"kind"}) != "TrainingJob") continue;
    return admin_.Find(kube::kTrainingJobs, {KeyOf(workload).space, TextAt(owner, {"name"})});
  }
  return nullptr;
}

void KueueCluster::Spoil(const api::ObjectKey& workload, const Json& job) {
  Json containers = ContainersOf(job);
  const Json right = containers;
  containers[0]["env"].push_back({{"name", kReservedName}, {"value", "elsewhere"}});
  const auto set = [this, key = KeyOf(job)](const Json& all) {
    user_.Patch(kube::kTrainingJobs, key,
                {{"spec", {{"workers", {{"template", {{"spec", {{"containers", all}}}}}}}}}});
  };
  set(containers);
  fibers_.After(Some(5, 60), [this, workload] { kueue_.Preempt(workload); });
  fibers_.After(Some(1'200, 2'000), [set, right] { set(right); });
}

// Somebody deletes a Workload and its finalizers, so that the next one of its name comes at once,
// and the operators learn of both in one. A Job that runs would keep in its template what Kueue
// added.
std::string KueueCluster::RemakeWorkload() {
  OnceThereIs(
      [](const Json& workload) { return HoldsIt(workload) && !IsTrue(workload, "Admitted"); },
      [this](const Json& workload) {
        const api::ObjectKey key = KeyOf(workload);
        options_.break_watches(Some(2, 6));
        admin_.Patch(kube::kWorkloads, key, {{"metadata", {{"finalizers", nullptr}}}});
        admin_.Delete(kube::kWorkloads, key);
      });
  return "the next that waits for nodes";
}

// For a quarter of an hour; some wait for a second only, and those are not meant.
void KueueCluster::OnceThereIs(std::function<bool(const Json&)> is,
                               std::function<void(const Json&)> act, int tries) {
  const auto one = AnyWorkload([&](const Json& workload) {
    const std::string since =
        TextAt(ConditionOf(workload, "QuotaReserved"), {"lastTransitionTime"});
    const auto time = ParseTime(since);
    return is(workload) && time && *time + 3 < options_.now_seconds();
  });
  if (one) return act(*one);
  if (tries == 0) return;
  fibers_.After(seconds(1), [this, is = std::move(is), act = std::move(act), tries] {
    OnceThereIs(is, act, tries - 1);
  });
}

void KueueCluster::RestoreFlavor() {
  const Json labels = {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}};
  admin_.Patch(kube::kResourceFlavors, {"", "gpu"}, {{"spec", {{"nodeLabels", labels}}}});
}

std::string KueueCluster::StopQueue() {
  const std::string space = options_.spaces[Below(options_.spaces.size())];
  const char* policy = std::array{"Hold", "HoldAndDrain"}[Below(2)];
  const bool local = Below(2) == 0;
  const auto set = [this, space, local](const char* value) {
    admin_.Patch(local ? kLocalQueues : kClusterQueues,
                 local ? api::ObjectKey{space, "queue"} : api::ObjectKey{"", space},
                 {{"spec", {{"stopPolicy", value}}}});
  };
  set(policy);
  fibers_.After(Some(10, 900), [set] { set("None"); });
  return space + " " + policy;
}

std::string KueueCluster::Silence() {
  const seconds time = Some(5, 600);
  kueue_.SetSilent(true);
  fibers_.After(time, [this] {
    kueue_.SetSilent(false);
    jobs_.Resync();
  });
  return std::to_string(time.count()) + " s";
}

std::string KueueCluster::Restart() {
  const seconds time = Some(1, 300);
  kueue_.SetDown(true);
  fibers_.After(time, [this] {
    kueue_.SetDown(false);
    jobs_.Resync();
  });
  return std::to_string(time.count()) + " s";
}

std::string KueueCluster::DeleteJob() {
  const auto& all = admin_.server().All("jobs.batch");
  if (all.empty()) return "";
  auto at = all.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(Below(all.size())));
  const api::ObjectKey key = at->first;
  user_.Delete(kJobs, key, {.propagation = Below(2) == 0 ? "Background" : "Foreground"});
  return api::Show(key);
}

std::string KueueCluster::DeleteJobsPod() {
  std::vector<api::ObjectKey> pods;
  for (const auto& [key, pod] : admin_.server().All("pods")) {
    if (!LabelOf(*pod, "batch.kubernetes.io/job-name").empty()) pods.push_back(key);
  }
  if (pods.empty()) return "";
  const api::ObjectKey key = pods[Below(pods.size())];
  user_.Delete(kube::kPods, key);
  return api::Show(key);
}

// Kueue 0.19 does not queue one again that it has deactivated itself, but makes another one if it
// is deleted (operator/docs/kueue.md). Weft sees to that of a TrainingJob.
void KueueCluster::Activate(const Json& workload) {
  const api::ObjectKey key = KeyOf(workload);
  const std::string why = TextAt(ConditionOf(workload, "Evicted"), {"reason"});
  const std::string owners = At(workload, {"metadata", "ownerReferences"}).dump();
  if (why.starts_with("DeactivatedDueTo") && owners.find("weft.dev/") == std::string::npos) {
    admin_.Delete(kube::kWorkloads, key);
  } else {
    admin_.Patch(kube::kWorkloads, key, {{"spec", {{"active", true}}}});
  }
}

void KueueCluster::ActivateAll() {
  const auto all = admin_.server().All("workloads.kueue.x-k8s.io");
  for (const auto& [key, workload] : all) {
    if (At(*workload, {"spec", "active"}) != Json(false) || IsTrue(*workload, "Finished")) continue;
    Activate(*workload);
  }
  fibers_.After(seconds(900), [this] { ActivateAll(); });
}

void KueueCluster::EndAll() {
  kueue_.SetDown(false);
  kueue_.SetSilent(false);
  jobs_.Resync();
  RestoreFlavor();
  ActivateAll();
}

// Kueue lists everything again. Some time later an administrator puts right what a fault had
// changed when the backup was made: who did it has taken it back before the restore.
void KueueCluster::OnRestore() {
  laws_.OnRestore(admin_.server());
  kueue_.Resync();
  jobs_.Resync();
  fibers_.After(Some(10, 120), [this] {
    for (const std::string& space : options_.spaces) {
      MakeLocalQueue(space);  // it may have come after the backup
      SetQuota(space, options_.nodes * 4);
      const Json goes_on = {{"spec", {{"stopPolicy", "None"}}}};
      admin_.Patch(kClusterQueues, {"", space}, goes_on);
      admin_.Patch(kLocalQueues, {space, "queue"}, goes_on);
    }
    RestoreFlavor();
    const Json rack = {{"example.com/rack", nullptr}};
    admin_.Patch(kube::kResourceFlavors, {"", "gpu"}, {{"spec", {{"nodeLabels", rack}}}});
  });
}

}  // namespace weft::world
