#include "tests/support/odd_worlds.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>
#include <vector>

#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/gang_step.h"
#include "operator/life/kueue_check.h"
#include "operator/life/next_step.h"
#include "tests/support/crd_schema.h"
#include "tests/support/job_world.h"

namespace weft::testing {
namespace {

using life::JobStatus;

constexpr UnixSeconds kNow = 1'800'000'000;
constexpr std::uint32_t kMostWorkers = 6;
constexpr int kStepsToRest = 60;

// Numbers from bytes; zeros where they have run out.
class Choice {
 public:
  explicit Choice(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint32_t Below(std::uint32_t count) {
    if (bytes_.empty()) return 0;
    const std::uint32_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % count;
  }
  bool Flip() { return Below(2) == 1; }
  template <std::size_t kSize>
  std::string Of(const std::array<const char*, kSize>& words) {
    return words[Below(kSize)];
  }
  std::string Time() {
    constexpr std::array<std::int64_t, 8> kAgo = {0, 1, 30, 61, 3'600, 90'000, -61, -90'000};
    const std::uint32_t which = Below(kAgo.size() + 3);
    if (which == kAgo.size()) return "";
    if (which == kAgo.size() + 1) return "0001-01-01T00:00:00Z";
    if (which == kAgo.size() + 2) return "9999-12-31T23:59:59Z";
    return FormatTime(kNow - kAgo[which]);
  }
  std::string Number() {
    return Of(std::array{"0", "1", "2", "3", "4", "5", "", "-1", "07", "1x", "4294967296",
                         "9223372036854775807", "99999999999999999999"});
  }
  std::string Node() { return Of(std::array{"n0", "n1", "n2", "n3", "n4", "n5", "", "gone"}); }

 private:
  std::span<const std::uint8_t> bytes_;
};

std::vector<api::Condition> ConditionsOf(Choice& choice, const std::vector<const char*>& types) {
  std::vector<api::Condition> conditions;
  for (const char* type : types) {
    if (!choice.Flip()) continue;
    conditions.push_back(
        {type, choice.Of(std::array{"True", "False", "Unknown"}),
         choice.Of(std::array{"", "Creating", "Binding", "SchedulerSilent", "SchedulingGated",
                              "Starting", "AllReady", "NotAllReady", "Suspending", "ReservedName",
                              "BindRefused", "UngateRefused", "NodeRejected", "Refused"}),
         "words", choice.Time()});
  }
  return conditions;
}

std::vector<api::ExcludedNode> ExcludedOf(Choice& choice) {
  std::vector<api::ExcludedNode> excluded(choice.Below(3));
  for (api::ExcludedNode& one : excluded) {
    one = {choice.Node(), choice.Time(), choice.Below(200), api::ExclusionEffect::kNoSchedule};
    if (choice.Flip()) one.effect = api::ExclusionEffect::kPreferNoSchedule;
  }
  return excluded;
}

life::NodeState StateOf(const std::string& node) {
  if (node == "gone") return {.exists = false, .not_ready_since = std::nullopt};
  if (node == "n4") return {.exists = true, .not_ready_since = kNow - 90'000};
  if (node == "n5") return {.exists = true, .not_ready_since = kNow - 1};
  return {};
}

void SpoilPod(Choice& choice, api::Pod& pod) {
  pod.phase = api::ParsePodPhase(
      choice.Of(std::array{"Pending", "Running", "Succeeded", "Failed", "Unknown", ""}));
  pod.node_name = choice.Node();
  pod.meta.deleting = choice.Below(4) == 3;
  if (pod.meta.deleting) pod.meta.deletion_timestamp = choice.Time();
  pod.meta.creation_timestamp = choice.Time();
  pod.ready = choice.Flip();
  pod.disrupted = choice.Below(4) == 3;
  pod.reason = choice.Of(std::array{"", "", "Evicted", "OutOfcpu", "UnexpectedAdmissionError"});
  pod.unscheduled = choice.Of(std::array{"", "0/9 nodes are available"});
  pod.nominated_node = choice.Of(std::array{"", "", "", "n1"});
  if (choice.Below(4) == 3) pod.failure = api::Pod::Failure{"c", "Error", choice.Below(200), ""};
}

void SpoilJob(Choice& choice, api::TrainingJob& job) {
  job.suspend = choice.Below(4) == 3;
  job.meta.deleting = choice.Below(6) == 5;
  if (choice.Flip()) job.meta.finalizers = {life::kFinalizer};
  job.meta.generation = choice.Below(3);
  if (choice.Flip()) job.framework.type = api::FrameworkType::kMPI;
  job.failure_policy.max_restarts = choice.Below(3);
  job.failure_policy.infrastructure =
      choice.Of(std::array{"RestartUncounted", "RestartCounted", "Fail"});
  if (choice.Flip()) job.active_deadline_seconds = choice.Below(200);
  if (choice.Flip()) job.ttl_seconds_after_finished = choice.Below(200);
  job.attempt = choice.Of(std::array{"0", "1", "2", "2147483647"}) == "2147483647"
                    ? 2'147'483'000
                    : choice.Below(4);
  job.conditions = ConditionsOf(choice, {"Accepted", "Placed", "PodsReady", "Suspended",
                                         "Restarting", "Complete", "Failed", "Foreign"});
  api::JobRecord& record = job.record;
  record.observed_generation = choice.Below(3);
  record.restarts = choice.Below(4);
  record.start_time = choice.Time();
  record.completion_time = choice.Time();
  record.retry = {choice.Below(20), choice.Time()};
  record.excluded = ExcludedOf(choice);
  if (choice.Flip())
    record.last_failure = {1, 0, choice.Node(), "Error", 1, "", "x", "ProgramFailed", true};
}

// Every life is at most so large; the world that follows it answers ideally.
void FillJobWorld(Choice& choice, JobWorld& world) {
  world.now = kNow;
  SpoilJob(choice, world.job);
  for (const char* node : {"gone", "n4", "n5"}) world.nodes[node] = StateOf(node);
  world.service = choice.Flip();
  for (std::uint32_t i = choice.Below(4); i > 0; --i) {
    auto placement = std::make_unique<api::Placement>();
    placement->meta.key = {"team-a", "p" + std::to_string(i)};
    placement->meta.labels.Set(cluster::kAttemptLabel, choice.Number());
    placement->meta.deleting = choice.Below(5) == 4;
    placement->nodes.resize(choice.Flip() ? world.job.replicas : choice.Below(kMostWorkers));
    for (std::string& node : placement->nodes) node = "n" + std::to_string(choice.Below(6));
    world.placements.push_back(std::move(placement));
  }
  for (std::uint32_t i = choice.Below(2 * kMostWorkers); i > 0; --i) {
    auto pod = std::make_unique<api::Pod>();
    pod->meta.key = {"team-a", "x" + std::to_string(i)};
    if (choice.Below(5) != 4) pod->meta.labels.Set(cluster::kAttemptLabel, choice.Number());
    if (choice.Below(5) != 4) pod->meta.labels.Set(cluster::kWorkerIndexLabel, choice.Number());
    SpoilPod(choice, *pod);
    if (choice.Below(6) == 5) pod->scheduling_gates = {"other.example/gate"};
    world.pods.push_back(std::move(pod));
  }
}

std::string SchemaLaw(const nlohmann::json& status, const std::string& plural) {
  const auto wrong = StatusSchema(plural).Wrong(status);
  return wrong.empty() ? "" : "the schema refuses " + wrong.front();
}

template <typename T>
bool Within(const std::vector<const T*>& some, const std::vector<const T*>& all) {
  const std::set<const T*> set(all.begin(), all.end());
  return std::all_of(some.begin(), some.end(),
                     [&](const T* one) { return set.contains(one) && !one->meta.deleting; });
}

struct JobLaw {
  const life::JobView& view;

  std::string operator()(const life::CreatePods& step) const {
    if (step.attempt != view.job->attempt) return "pods are created for another attempt";
    std::set<WorkerIndex> workers(step.workers.begin(), step.workers.end());
    if (workers.size() != step.workers.size()) return "a worker is created twice";
    if (!workers.empty() && workers.rbegin()->Raw() >= view.job->replicas)
      return "a worker too many";
    for (const api::Pod* pod : view.pods) {
      if (life::AttemptLabel(pod->meta) != step.attempt) continue;
      const auto worker = life::WorkerLabel(pod->meta);
      if (worker && workers.contains(*worker)) return "a worker that is there is created";
    }
    return "";
  }
  std::string operator()(const life::DeletePods& step) const {
    return Within(step.pods, view.pods) ? "" : "a pod is deleted that is not the job's to delete";
  }
  std::string operator()(const life::DeletePlacements& step) const {
    return Within(step.placements, view.placements) ? "" : "a Placement of others is deleted";
  }
  std::string operator()(const life::WriteStatus& step) const {
    const JobStatus before = life::StatusOf(*view.job);
    if (step.status == before) return "a status is written that changes nothing";
    if (step.status.attempt < before.attempt) return "a status goes back an attempt";
    return SchemaLaw(nlohmann::json(life::EncodeJobStatus(step.status)), "trainingjobs");
  }
  std::string operator()(const auto&) const { return ""; }
};

struct GangLaw {
  const life::GangView& view;

  std::string operator()(const life::UngatePods& step) const {
    std::set<WorkerIndex> workers;
    for (const cluster::WorkerPod& one : step.pods) {
      if (!cluster::IsGated(*one.pod) || one.pod->meta.deleting) return "no gated pod is ungated";
      if (one.worker.Raw() >= view.placement->nodes.size()) return "a worker too many is ungated";
      if (!workers.insert(one.worker).second) return "a worker is ungated twice";
    }
    return "";
  }
  std::string operator()(const life::EvictPods& step) const {
    if (!Within(step.pods, view.pods)) return "a pod is evicted that is not the gang's to evict";
    for (const api::Pod* pod : step.pods) {
      const auto mark = pod->meta.annotations.At(life::kPlacementUidAnnotation);
      if (mark != view.placement->meta.uid) return "a pod is evicted that was never ungated";
      if (pod->meta.owners.empty()) return "a pod is evicted that nothing would create again";
    }
    return "";
  }
  std::string operator()(const life::AskJob&) const {
    return view.placement->nodes.empty() ? "" : "a Job is asked although the gang has its nodes";
  }
  std::string operator()(const life::WritePlacement& step) const {
    const api::Placement& before = *view.placement;
    const life::PlacementStatus& after = step.status;
    const bool keeps = after.keeps_nodes || before.nodes.empty();
    if (keeps && after.conditions == before.conditions && after.excluded == before.excluded &&
        after.retry == before.retry) {
      return "a status is written that changes nothing";
    }
    nlohmann::json patched = {{"nodes", before.nodes}};
    patched.merge_patch(life::PatchOf(before, after));
    return SchemaLaw(patched, "placements");
  }
  std::string operator()(const life::Wait&) const { return ""; }
};

}  // namespace

std::string BrokenLawOfJob(std::span<const std::uint8_t> bytes) {
  Choice choice(bytes);
  JobWorld world(1 + choice.Below(kMostWorkers));
  FillJobWorld(choice, world);
  for (int i = 0; i < kStepsToRest; ++i) {
    const life::JobView view = world.View();
    const life::JobStep step = life::NextStep(view, world.options);
    if (life::NextStep(view, world.options).index() != step.index()) return "steps differ";
    if (std::string broken = std::visit(JobLaw{view}, step); !broken.empty()) return broken;
    if (world.Settle(1)) return "";
  }
  return "the job does not come to rest";
}

std::string BrokenLawOfGang(std::span<const std::uint8_t> bytes) {
  Choice choice(bytes);
  api::Placement placement;
  placement.meta.key = {"ns", "gang"};
  placement.meta.uid = "u1";
  placement.meta.deleting = choice.Below(8) == 7;
  placement.workers = 1 + choice.Below(kMostWorkers);
  if (choice.Below(5) != 4) placement.pod_selector.emplace();
  if (choice.Flip()) placement.worker_index_labels = {{"index", 1}};
  if (choice.Below(4) != 3) placement.nodes.resize(placement.workers);
  for (std::string& node : placement.nodes) node = "n" + std::to_string(choice.Below(6));
  placement.conditions = ConditionsOf(choice, {"Placed", "Verified", "Foreign"});
  placement.excluded = ExcludedOf(choice);
  placement.retry = {choice.Below(20), choice.Time()};
  std::vector<api::Pod> pods(choice.Below(2 * kMostWorkers));
  life::GangView view;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    SpoilPod(choice, pods[i]);
    pods[i].meta.key = {"ns", "p" + std::to_string(i)};
    if (choice.Flip()) pods[i].scheduling_gates = {api::kGate};
    if (choice.Below(5) == 4) pods[i].scheduling_gates.push_back("other.example/gate");
    pods[i].meta.labels.Set("index", choice.Number());
    if (choice.Below(3) != 2) {
      pods[i].meta.annotations.Set(life::kPlacementUidAnnotation,
                                   choice.Of(std::array{"u1", "u1", "u2"}));
      pods[i].meta.annotations.Set(cluster::kWorkerIndexLabel, choice.Number());
    }
    if (choice.Flip()) pods[i].meta.owners.push_back({"batch/v1", "Job", "j", "j1", true});
    view.pods.push_back(&pods[i]);
  }
  view.placement = &placement;
  view.node_state = StateOf;
  view.now = kNow;
  const life::UngateStep step = life::NextUngateStep(view, {});
  if (life::NextUngateStep(view, {}).index() != step.index()) return "steps differ";
  return std::visit(GangLaw{view}, step);
}

}  // namespace weft::testing
