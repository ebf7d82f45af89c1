#include "tests/world/faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/world/world.h"

namespace weft::world {
namespace {

using std::chrono::seconds;

bool IsAny(const Json&) { return true; }

bool Runs(const Json& pod) {
  return TextAt(pod, {"status", "phase"}) == "Running" && !IsDeleting(pod);
}

bool Succeeded(const Json& pod) { return TextAt(pod, {"status", "phase"}) == "Succeeded"; }

bool IsBound(const Json& pod) {
  return !TextAt(pod, {"spec", "nodeName"}).empty() && !IsDeleting(pod);
}

// How long nothing may go on after a fault of the network or the leader: a Lease that is not
// renewed is taken after 15 s, and a new leader reads everything.
constexpr seconds kRecovery{45};

}  // namespace

const std::vector<Faults::Kind>& Faults::All() {
  static const std::vector<Kind> kAll = {
      {"kill-leader", &Faults::KillLeader},
      {"kill-any", &Faults::KillAny},
      {"stop-leader", &Faults::StopLeader},
      {"freeze-leader", &Faults::FreezeLeader},
      {"cut-leader", &Faults::CutLeader},
      {"server-down", &Faults::ServerDown},
      {"slow-requests", &Faults::SlowRequests},
      {"lost-requests", &Faults::LostRequests},
      {"unanswered-requests", &Faults::UnansweredRequests},
      {"busy-server", &Faults::BusyServer},
      {"late-watch", &Faults::LateWatch},
      {"cut-watches", &Faults::CutWatches},
      {"compaction", &Faults::Compaction},
      {"lose-node", &Faults::LoseNode},
      {"make-node-anew", &Faults::MakeNodeAnew},
      {"restart-plugin", &Faults::RestartPlugin},
      {"fail-pulls", &Faults::FailPulls},
      {"crash-pod", &Faults::CrashPod},
      {"cordon", &Faults::Cordon},
      {"taint-node", &Faults::TaintNode},
      {"silence-scheduler", &Faults::SilenceScheduler},
      {"collect-pods", &Faults::CollectPods},
      {"delete-pod", &Faults::DeletePod},
      {"evict-pod", &Faults::EvictPod},
      {"delete-placement", &Faults::DeletePlacement},
      {"delete-new-placement", &Faults::DeleteNewPlacement},
      {"delete-service", &Faults::DeleteService},
      {"tight-quota", &Faults::TightQuota},
      {"refuse-pods", &Faults::RefusePods},
      {"refuse-placements", &Faults::RefusePlacements},
      {"urgent-pod", &Faults::UrgentPod},
      {"foreign-service", &Faults::ForeignService},
      {"ownerless-placement", &Faults::OwnerlessPlacement},
      {"odd-annotation", &Faults::OddAnnotation},
      {"strip-finalizer", &Faults::StripFinalizer},
      {"delete-namespace", &Faults::DeleteNamespace},
      {"scale-job", &Faults::ScaleJob},
      {"restore-job", &Faults::RestoreJob},
      {"false-pod", &Faults::FalsePod},
  };
  return kAll;
}

Faults::Faults(World& world, std::uint64_t seed)
    : world_(world),
      admin_(world.server_, "admin"),
      tenant_(world.server_, "tenant"),
      seed_(seed),
      chance_(seed) {
  const std::uint64_t share = 1 + Below(4);  // a quarter of the catalogue, up to all of it
  for (const Kind& kind : All()) {
    if (Below(4) < share) chosen_.push_back(kind);
  }
}

void Faults::Strike(std::size_t number) {
  chance_ = SplitMix64(seed_ + number);  // whichever others are left out
  if (world_.kueue_ && Below(3) == 0) {
    const std::string done = world_.kueue_->Strike();
    if (!done.empty()) world_.OnFault(number, "kueue: " + done);
    return;
  }
  if (chosen_.empty()) return;
  const Kind& kind = chosen_[Below(chosen_.size())];
  const std::string what = (this->*kind.act)();
  if (!what.empty()) world_.OnFault(number, std::string(kind.name) + ": " + what);
}

void Faults::EndAll() {
  world_.weather_ = world_.fair_;
  world_.kubelets_.SetPullsFail({});
  world_.scheduler_.SetSilent(false);
}

void Faults::Hard(seconds time) {
  world_.hard_until_ = std::max(world_.hard_until_, world_.fibers_.now() + time + kRecovery);
}

seconds Faults::Some(std::uint64_t least, std::uint64_t most) {
  return seconds(static_cast<std::int64_t>(least + Below(most - least + 1)));
}

std::string Faults::AnyNode() {
  const auto node = Any(kube::kNodes, IsAny);
  return node ? TextAt(*node, {"metadata", "name"}) : "";
}

std::string Faults::AnySpace() { return std::array{"team-a", "team-b", "team-c"}[Below(3)]; }

std::shared_ptr<const Json> Faults::Any(const kube::Resource& resource, bool (*is)(const Json&)) {
  std::vector<std::shared_ptr<const Json>> fit;
  for (const auto& [key, object] : world_.server_.All(NameOf(resource))) {
    if (is(*object)) fit.push_back(object);
  }
  return fit.empty() ? nullptr : fit[Below(fit.size())];
}

std::string Faults::KillLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  Hard(seconds(0));
  leader->Kill();
  return leader->identity();
}

std::string Faults::KillAny() {
  World::Host& host = world_.hosts_[Below(world_.hosts_.size())];
  if (!host.now || host.now->ended()) return "";
  Hard(seconds(0));
  host.now->Kill();
  return host.now->identity();
}

std::string Faults::StopLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  Hard(seconds(0));
  leader->Terminate();
  return leader->identity();
}

std::string Faults::FreezeLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  const seconds time = Some(1, 60);
  Hard(time);
  leader->machine().Freeze(world_.fibers_.now() + time);
  return leader->identity() + " for " + std::to_string(time.count()) + " s";
}

std::string Faults::CutLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  const seconds time = Some(1, 90);
  Hard(time);
  leader->SetCut(true);
  world_.fibers_.After(time, [this, identity = leader->identity()] {
    for (World::Host& host : world_.hosts_) {
      if (host.now && host.now->identity() == identity) host.now->SetCut(false);
    }
  });
  return leader->identity() + " for " + std::to_string(time.count()) + " s";
}

std::string Faults::ServerDown() {
  const seconds time = Some(1, 60);
  Hard(time);
  world_.weather_.down = true;
  for (World::Host& host : world_.hosts_) {
    if (host.now) host.now->WakeStreams();
  }
  world_.fibers_.After(time, [this] { world_.weather_.down = false; });
  return std::to_string(time.count()) + " s";
}

std::string Faults::SlowRequests() {
  const seconds time = Some(5, 120);
  Hard(time);
  world_.weather_.most_delay = Millis(200 + Below(4'000));
  world_.fibers_.After(time, [this] { world_.weather_.most_delay = world_.fair_.most_delay; });
  return std::to_string(world_.weather_.most_delay.count()) + " ms";
}

std::string Faults::LostRequests() {
  const seconds time = Some(5, 60);
  Hard(time);
  world_.weather_.lost = static_cast<unsigned>(20 + Below(300));
  world_.fibers_.After(time, [this] { world_.weather_.lost = 0; });
  return std::to_string(world_.weather_.lost) + " of 1,000";
}

std::string Faults::UnansweredRequests() {
  const seconds time = Some(5, 60);
  Hard(time);
  world_.weather_.unanswered = static_cast<unsigned>(20 + Below(300));
  world_.fibers_.After(time, [this] { world_.weather_.unanswered = 0; });
  return std::to_string(world_.weather_.unanswered) + " of 1,000";
}

std::string Faults::BusyServer() {
  const seconds time = Some(5, 120);
  Hard(time);
  world_.weather_.busy = static_cast<unsigned>(50 + Below(600));
  world_.fibers_.After(time, [this] { world_.weather_.busy = 0; });
  return std::to_string(world_.weather_.busy) + " of 1,000";
}

std::string Faults::LateWatch() {
  static constexpr std::array kResources = {
      "pods", "trainingjobs.weft.dev", "nodes", "placements.weft.dev", "services", "namespaces"};
  const std::string resource = kResources[Below(kResources.size())];
  const seconds time = Some(10, 300);
  world_.weather_.late[resource] = Millis(100 + Below(20'000));
  Hard(time + seconds(20));
  world_.fibers_.After(time, [this, resource] { world_.weather_.late.erase(resource); });
  return resource + " by " + std::to_string(world_.weather_.late[resource].count()) + " ms";
}

std::string Faults::CutWatches() {
  const seconds time = Some(10, 120);
  Hard(time);
  world_.weather_.cut_watches = static_cast<unsigned>(20 + Below(400));
  world_.fibers_.After(time, [this] { world_.weather_.cut_watches = 0; });
  return std::to_string(world_.weather_.cut_watches) + " of 1,000 events";
}

std::string Faults::Compaction() {
  world_.server_.Compact();
  return "all changes so far are forgotten";
}

std::string Faults::LoseNode() {
  const std::string node = AnyNode();
  if (node.empty() || world_.kubelets_.IsLost(node)) return "";
  const seconds time = Some(5, 1'200);
  const bool rebooted = Below(2) == 0;
  world_.kubelets_.Lose(node);
  world_.fibers_.After(time, [this, node, rebooted] { world_.kubelets_.Return(node, rebooted); });
  return node + " for " + std::to_string(time.count()) + " s" + (rebooted ? ", rebooted" : "");
}

// An autoscaler, or a person who repairs it: the node is removed, and comes back under its name.
std::string Faults::MakeNodeAnew() {
  const std::string name = AnyNode();
  if (name.empty() || world_.kubelets_.IsLost(name)) return "";
  Json node = *admin_.Find(kube::kNodes, {"", name});
  const Json meta = {{"name", name}, {"labels", At(node, {"metadata", "labels"})}};
  node["metadata"] = meta;
  admin_.Delete(kube::kNodes, {"", name});
  world_.kubelets_.Lose(name);
  const seconds away = Some(1, 300);
  // The pod collector takes what was on it.
  world_.fibers_.After(std::min(away, seconds(60)), [this, name] {
    if (admin_.Find(kube::kNodes, {"", name})) return;
    const auto pods = world_.server_.All("pods");
    for (const auto& [key, pod] : pods) {
      if (TextAt(*pod, {"spec", "nodeName"}) == name) {
        admin_.Delete(kube::kPods, key, {.grace_seconds = 0});
      }
    }
  });
  world_.fibers_.After(away, [this, name, node] {
    admin_.Create(kube::kNodes, node);
    admin_.Patch(kube::kNodes, {"", name}, {{"status", node.at("status")}}, "status");
    world_.kubelets_.Return(name, true);
  });
  return name + " for " + std::to_string(away.count()) + " s";
}

std::string Faults::RestartPlugin() {
  const std::string node = AnyNode();
  if (node.empty()) return "";
  world_.kubelets_.RestartPlugin(node, Some(2, 60));
  return node;
}

std::string Faults::FailPulls() {
  const seconds time = Some(10, 300);
  world_.kubelets_.SetPullsFail(world_.fibers_.now() + time);
  return std::to_string(time.count()) + " s";
}

std::string Faults::CrashPod() {
  const auto pod = Any(kube::kPods, Runs);
  if (!pod) return "";
  const int code = std::array{1, 137, 139}[Below(3)];
  world_.kubelets_.Crash(KeyOf(*pod), code);
  return api::Show(KeyOf(*pod)) + " with " + std::to_string(code);
}

std::string Faults::Cordon() {
  const std::string node = AnyNode();
  if (node.empty()) return "";
  admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"unschedulable", true}}}});
  world_.fibers_.After(Some(10, 900), [this, node] {
    admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"unschedulable", nullptr}}}});
  });
  return node;
}

std::string Faults::TaintNode() {
  const auto node = Any(kube::kNodes, [](const Json& one) {
    return At(one, {"spec", "taints"}).empty();
  });
  if (!node) return "";
  const std::string name = TextAt(*node, {"metadata", "name"});
  const Json taint = {{{"key", "example.com/repair"}, {"effect", "NoSchedule"}}};
  admin_.Patch(kube::kNodes, {"", name}, {{"spec", {{"taints", taint}}}});
  world_.fibers_.After(Some(10, 900), [this, name] {
    const auto there = admin_.Find(kube::kNodes, {"", name});
    if (!there) return;
    Json left = Json::array();
    for (const Json& one : At(*there, {"spec", "taints"})) {
      if (TextAt(one, {"key"}) != "example.com/repair") left.push_back(one);
    }
    admin_.Patch(kube::kNodes, {"", name}, {{"spec", {{"taints", left}}}});
  });
  return name;
}

std::string Faults::SilenceScheduler() {
  const seconds time = Some(5, 180);
  world_.scheduler_.SetSilent(true);
  world_.fibers_.After(time, [this] { world_.scheduler_.SetSilent(false); });
  return std::to_string(time.count()) + " s";
}

// The pod collector of kube-controller-manager, or somebody who cleans up.
std::string Faults::CollectPods() {
  std::size_t count = 0;
  for (; count < 20; ++count) {
    const auto pod = Any(kube::kPods, Succeeded);
    if (!pod) break;
    admin_.Delete(kube::kPods, KeyOf(*pod), {.grace_seconds = 0});
  }
  return count == 0 ? "" : std::to_string(count) + " pods";
}

std::string Faults::DeletePod() {
  const auto pod = Any(kube::kPods, IsAny);
  if (!pod) return "";
  tenant_.Delete(kube::kPods, KeyOf(*pod));
  return api::Show(KeyOf(*pod));
}

std::string Faults::EvictPod() {
  const auto pod = Any(kube::kPods, IsBound);
  if (!pod) return "";
  admin_.Evict(KeyOf(*pod));
  return api::Show(KeyOf(*pod));
}

std::string Faults::DeletePlacement() {
  const auto placement = Any(kube::kPlacements, IsAny);
  if (!placement) return "";
  tenant_.Delete(kube::kPlacements, KeyOf(*placement));
  return api::Show(KeyOf(*placement));
}

// While the pods of its gang are being created.
std::string Faults::DeleteNewPlacement() {
  const seconds time(60);
  AwaitCreation(world_.fibers_.now() + time);
  return "the next within " + std::to_string(time.count()) + " s";
}

void Faults::AwaitCreation(Instant until) {
  if (world_.fibers_.now() > until) return;
  const SeenCluster& cluster = world_.laws_.cluster();
  for (const auto& known : cluster.placements) {
    const Json& placement = *known.second;
    const std::size_t workers = NodesOf(placement).size();
    const std::int64_t attempt = AttemptOf(placement);
    const std::string job = JobOf(placement);
    if (workers < 2 || job.empty() || IsDeleting(placement)) continue;
    const auto live = cluster.LivePods(job);
    if (live.empty() || live.size() >= workers) continue;
    const bool new_pods = std::all_of(live.begin(), live.end(), [&](const auto& pod) {
      return AttemptOf(*pod) == attempt && TextAt(*pod, {"status", "phase"}) == "Pending";
    });
    if (!new_pods) continue;
    tenant_.Delete(kube::kPlacements, KeyOf(placement));
    return world_.Say("FAULT deletes " + api::Show(KeyOf(placement)) + " with " +
                      std::to_string(live.size()) + " of " + std::to_string(workers) + " pods");
  }
  world_.fibers_.After(Millis(30), [this, until] { AwaitCreation(until); });
}

std::string Faults::DeleteService() {
  const auto service = Any(kube::kServices, IsAny);
  if (!service) return "";
  tenant_.Delete(kube::kServices, KeyOf(*service));
  return api::Show(KeyOf(*service));
}

std::string Faults::TightQuota() {
  const std::string space = AnySpace(), name = "tight-" + std::to_string(++made_);
  const Json quota = {{"apiVersion", "v1"},
                      {"kind", "ResourceQuota"},
                      {"metadata", {{"name", name}, {"namespace", space}}},
                      {"spec", {{"hard", {{"pods", std::to_string(Below(12))}}}}}};
  admin_.Create(kube::kResourceQuotas, quota);
  world_.fibers_.After(Some(10, 600), [this, space, name] {
    admin_.Delete(kube::kResourceQuotas, {space, name});
  });
  return space;
}

std::string Faults::RefusePods() {
  const std::string space = AnySpace();
  const Instant until = world_.fibers_.now() + Some(5, 300);
  world_.refused_["pods"][space] = until;
  return space;
}

std::string Faults::RefusePlacements() {
  const std::string space = AnySpace();
  const Instant until = world_.fibers_.now() + Some(5, 300);
  world_.refused_["placements.weft.dev"][space] = until;
  return space;
}

// A pod of somebody else that takes the place of others.
std::string Faults::UrgentPod() {
  const std::string name = "urgent-" + std::to_string(++made_);
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", "other"},
        {"annotations", {{"weft.test/run-seconds", std::to_string(30 + Below(600))}}}}},
      {"spec",
       {{"priority", 1'000'000},
        {"priorityClassName", "urgent"},
        {"containers",
         {{{"name", "one"},
           {"image", "registry.example/serve:1"},
           {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}}}}}}};
  admin_.Create(kube::kPods, pod);
  return name;
}

std::string Faults::ForeignService() {
  const auto job = Any(kube::kTrainingJobs, IsAny);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                        {"spec", {{"clusterIP", "None"}, {"selector", {{"app", "other"}}}}}};
  if (tenant_.Create(kube::kServices, service) / 100 != 2) return "";
  const std::string uid = UidOf(*admin_.Find(kube::kServices, key));
  world_.fibers_.After(Some(10, 300), [this, key, uid] {
    tenant_.Delete(kube::kServices, key, {.only = {.uid = uid, .resource_version = ""}});
  });
  return api::Show(key);
}

// What somebody with `edit` in one namespace may write: a Placement that holds nodes for nothing,
// or that has the name of another's.
std::string Faults::OwnerlessPlacement() {
  const auto job = Any(kube::kTrainingJobs, IsAny);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const bool claims = Below(2) == 0;
  Json meta = {{"name", claims ? key.name + "-1" : "odd-" + std::to_string(++made_)},
               {"namespace", key.space}};
  if (!claims) {
    meta["ownerReferences"] = {{{"apiVersion", "weft.dev/v1alpha1"},
                                {"kind", "TrainingJob"},
                                {"name", key.name},
                                {"uid", UidOf(*job)}}};
  }
  const Json placement = {
      {"apiVersion", "weft.dev/v1alpha1"},
      {"kind", "Placement"},
      {"metadata", meta},
      {"spec",
       {{"workers", {{"replicas", 8}}},
        {"accelerator", {{"resourceName", "nvidia.com/gpu"}, {"perWorker", 8}}}}}};
  if (tenant_.Create(kube::kPlacements, placement) / 100 != 2) return "";
  const api::ObjectKey made{key.space, meta.at("name").get<std::string>()};
  const std::string uid = UidOf(*admin_.Find(kube::kPlacements, made));
  world_.fibers_.After(Some(30, 600), [this, made, uid] {
    tenant_.Delete(kube::kPlacements, made, {.only = {.uid = uid, .resource_version = ""}});
  });
  return api::Show(made);
}

std::string Faults::OddAnnotation() {
  static constexpr std::array kNames = {"weft.dev/waited-seconds", "weft.dev/excluded-nodes",
                                        "weft.dev/priority", "weft.dev/measured-step-seconds"};
  const auto job = Any(kube::kTrainingJobs, IsAny);
  if (!job) return "";
  const std::string name = kNames[Below(kNames.size())];
  tenant_.Patch(kube::kTrainingJobs, KeyOf(*job),
                {{"metadata", {{"annotations", {{name, "odd"}}}}}});
  return api::Show(KeyOf(*job)) + " " + name;
}

std::string Faults::StripFinalizer() {
  const auto job = Any(kube::kTrainingJobs, [](const Json& one) {
    return !At(one, {"metadata", "finalizers"}).empty() && !IsDeleting(one);
  });
  if (!job) return "";
  tenant_.Patch(kube::kTrainingJobs, KeyOf(*job), {{"metadata", {{"finalizers", nullptr}}}});
  return api::Show(KeyOf(*job));
}

// All of a team's objects go, and its namespace is made again.
std::string Faults::DeleteNamespace() {
  const std::string space = AnySpace();
  admin_.Delete(kube::kNamespaces, {"", space});
  for (int i = 1; i < 60; ++i) {
    world_.fibers_.After(seconds(i * 10), [this, space] {
      admin_.Create(kube::kNamespaces,
                    {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
    });
  }
  return space;
}

std::string Faults::ScaleJob() {
  const auto job = Any(kube::kTrainingJobs, IsAny);
  if (!job) return "";
  tenant_.Patch(kube::kTrainingJobs, KeyOf(*job),
                {{"spec", {{"workers", {{"replicas", 1 + Below(8)}}}}}});
  return api::Show(KeyOf(*job));
}

// From a backup that has no status, while its pods are still there.
std::string Faults::RestoreJob() {
  const auto job = Any(kube::kTrainingJobs, IsAny);
  if (!job) return "";
  const api::ObjectKey key = KeyOf(*job);
  const Json backup = {{"apiVersion", "weft.dev/v1alpha1"},
                       {"kind", "TrainingJob"},
                       {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                       {"spec", job->at("spec")}};
  admin_.Patch(kube::kTrainingJobs, key, {{"metadata", {{"finalizers", nullptr}}}});
  admin_.Delete(kube::kTrainingJobs, key, {.propagation = Below(2) == 0 ? "Orphan" : "Background"});
  // What has no owner any more has the names that the new job needs; somebody removes it.
  world_.fibers_.After(Some(10, 300), [this, uid = UidOf(*job)] {
    for (const kube::Resource& resource : {kube::kPlacements, kube::kServices, kube::kPods}) {
      const auto all = world_.server_.All(NameOf(resource));
      for (const auto& [name, object] : all) {
        if (LabelOf(*object, "weft.dev/job-uid") == uid) admin_.Delete(resource, name);
      }
    }
  });
  for (int i = 0; i < 10; ++i) {
    world_.fibers_.After(seconds(i),
                         [this, backup] { admin_.Create(kube::kTrainingJobs, backup); });
  }
  return api::Show(key);
}

// What somebody with `edit` may create: a pod with the labels of a job's.
std::string Faults::FalsePod() {
  const auto pod = Any(
      kube::kPods, [](const Json& one) { return !LabelOf(one, "weft.dev/worker-index").empty(); });
  if (!pod) return "";
  const std::string name = "false-" + std::to_string(++made_);
  Json made = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", KeyOf(*pod).space},
        {"labels", At(*pod, {"metadata", "labels"})}}},
      {"spec", {{"containers", {{{"name", "one"}, {"image", "registry.example/other:1"}}}}}}};
  if (Below(2) == 0) made["metadata"]["labels"].erase("weft.dev/attempt");
  if (tenant_.Create(kube::kPods, made) / 100 != 2) return "";
  const api::ObjectKey key = KeyOf(made);
  world_.fibers_.After(Some(30, 600), [this, key] { tenant_.Delete(kube::kPods, key); });
  return api::Show(key);
}

}  // namespace weft::world
