#include "operator/controllers/placement_controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/decode.h"
#include "operator/base/seeded_bug.h"
#include "operator/controllers/parallel.h"
#include "operator/launch/pin.h"
#include "operator/life/kueue_check.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// A Job that is short of pods is asked after 1, 2, 4, 8 and then every ten minutes.
constexpr std::int64_t kFirstAskSeconds = 60, kLongestAskSeconds = 600;

}  // namespace

PlacementController::PlacementController(watch::Store& store, ApiWriter& writer, Recorder& recorder,
                                         Log& log, Options options)
    : store_(store),
      writer_(writer),
      recorder_(recorder),
      log_(log),
      options_(std::move(options)) {}

Result<Outcome> PlacementController::Reconcile(const api::ObjectKey& key) {
  const auto placement = store_.At<api::Placement>(key);
  if (!placement || !placement->nodes.empty()) Forget(key);
  if (!placement || api::ControllingJob(placement->meta)) return Outcome{};
  if (const auto told = Accept(*placement)) return Do(*placement, *told);
  if (!placement->unreadable.empty()) return Outcome{};
  std::vector<std::shared_ptr<const api::Pod>> pods;
  if (placement->pod_selector) pods = store_.PodsOf(*placement);
  life::GangView view;
  view.placement = placement.get();
  for (const auto& pod : pods) view.pods.push_back(pod.get());
  if (const auto* owner = api::ControllingWorkload(placement->meta)) {
    const auto workload = store_.At<api::Workload>({key.space, owner->name});
    if (workload && !Seeded(Bug::kDoneForgotten)) {
      view.succeeded = life::SucceededPods(*workload, placement->meta);
    }
  }
  view.node_state = [this](const std::string& node) { return store_.StateOfNode(node); };
  const auto group = GroupOf(pods, view.group);
  view.now = options_.now();
  view.ask_at = AskAt(placement->meta);
  return std::visit([&](const auto& step) { return Do(*placement, step); },
                    life::NextUngateStep(view, options_.life));
}

// Of the first pod that names one. The pointer keeps it.
std::shared_ptr<const api::PodGroup> PlacementController::GroupOf(
    const std::vector<std::shared_ptr<const api::Pod>>& pods, life::GangGroup& gang) const {
  const auto in_group = std::find_if(pods.begin(), pods.end(),
                                     [](const auto& pod) { return !pod->pod_group.empty(); });
  if (in_group == pods.end()) return nullptr;
  const api::Pod& pod = **in_group;
  auto group = store_.At<api::PodGroup>({pod.meta.key.space, pod.pod_group});
  gang = {store_.IsListed<api::PodGroup>(), group.get()};
  return group;
}

// Sets Accepted=False if the spec cannot be read, and Accepted=True once it can be read again.
std::optional<life::WritePlacement> PlacementController::Accept(
    const api::Placement& placement) const {
  const api::Condition* before = api::FindCondition(placement.conditions, "Accepted");
  const bool readable = placement.unreadable.empty();
  if (readable && (before == nullptr || before->status == "True")) return std::nullopt;
  std::vector<api::Condition> conditions = placement.conditions;
  api::PutCondition(conditions,
                    readable ? api::Condition{"Accepted", "True", "Valid", "the spec is valid", ""}
                             : api::Unreadable(placement.unreadable),
                    options_.now());
  if (conditions == placement.conditions) return std::nullopt;
  return life::WritePlacement{{true, std::move(conditions), placement.excluded, placement.retry}};
}

Status PlacementController::Ungate(const api::Placement& placement, const cluster::WorkerPod& one) {
  const api::ObjectMeta& meta = one.pod->meta;
  const Json patch = launch::UngatePatch(
      *one.pod, {placement.meta.uid, one.worker, placement.nodes.at(one.worker.Raw())});
  const Result<Json> stored =
      writer_.Patch({Kind::kPod, meta.key, meta.uid, meta.resource_version}, patch);
  if (!stored) return stored.error();
  Result<api::Pod> pod = api::DecodePod(*stored, "Pod");
  if (!pod) return pod.error();
  store_.Put(*std::move(pod));
  return {};
}

PlacementController::Answer PlacementController::Do(const api::Placement& placement,
                                                    const life::UngatePods& step) {
  const Batch batch =
      RunBatch(*options_.executor, step.pods.size(), options_.writes_at_once, OnError::kStop,
               [&](std::size_t i) { return Ungate(placement, step.pods[i]); });
  if (!batch.error) return batch.cut ? kNextSlice : kAgain;
  if (batch.error->kind == ErrorKind::kInvalid) {
    recorder_.Record(
        {"Placement", &placement.meta, true, "UngateRefused", "UngatePods", batch.error->message});
  }
  return *batch.error;
}

PlacementController::Answer PlacementController::Do(const api::Placement& placement,
                                                    const life::EvictPods& step) {
  const Batch batch = RunBatch(*options_.executor, step.pods.size(), options_.writes_at_once,
                               OnError::kGoOn, [&](std::size_t i) {
                                 const api::ObjectMeta& meta = step.pods[i]->meta;
                                 return writer_.Evict({Kind::kPod, meta.key, meta.uid, ""});
                               });
  if (batch.error) return *batch.error;
  log_.Info("evicted",
            {{"placement", api::Show(placement.meta.key)}, {"pods", std::to_string(batch.done)}});
  return batch.cut ? kNextSlice : Outcome{};  // the watch reports when they are gone
}

// Writes only if the Placement has not changed since the decision.
PlacementController::Answer PlacementController::Do(const api::Placement& placement,
                                                    const life::WritePlacement& step) {
  const api::ObjectMeta& meta = placement.meta;
  const Result<Json> stored =
      writer_.PatchStatus({Kind::kPlacement, meta.key, meta.uid, meta.resource_version},
                          {{"status", life::PatchOf(placement, step.status)}});
  if (!stored) return stored.error();
  auto decoded = api::DecodePlacement(*stored, "Placement", api::Reading::kServed);
  if (decoded) store_.Put(*std::move(decoded));
  RecordEvents(placement, step.status);
  return Outcome{.again = true, .seconds = std::nullopt};
}

// Records events with the texts of the conditions.
void PlacementController::RecordEvents(const api::Placement& placement,
                                       const life::PlacementStatus& status) {
  for (const api::Condition& now : status.conditions) {
    const auto before = std::find_if(placement.conditions.begin(), placement.conditions.end(),
                                     [&](const api::Condition& c) { return c.type == now.type; });
    const bool same = before != placement.conditions.end() && before->status == now.status &&
                      before->reason == now.reason;
    if (same) continue;
    recorder_.Record(
        {"Placement", &placement.meta, now.status == "False", now.reason, now.type, now.message});
    log_.Info(now.type + "=" + now.status, {{"placement", api::Show(placement.meta.key)},
                                            {"reason", now.reason},
                                            {"why", now.message}});
  }
}

void PlacementController::Forget(const api::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  asked_.erase(key);
}

UnixSeconds PlacementController::AskAt(const api::ObjectMeta& placement) {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(placement.key);
  if (found == asked_.end() || found->second.uid != placement.uid) return 0;
  const Asked& asked = found->second;
  return asked.at > options_.now() ? 0 : asked.at + asked.pause;  // a clock that was put back
}

PlacementController::Answer PlacementController::Do(const api::Placement& placement,
                                                    const life::AskJob& step) {
  const api::ObjectMeta& meta = placement.meta;
  {
    const std::lock_guard lock(mutex_);
    Asked& asked = asked_[meta.key];
    if (std::exchange(asked.uid, meta.uid) != meta.uid) asked.pause = 0;
    asked.at = options_.now();
    asked.pause = std::clamp(2 * asked.pause, kFirstAskSeconds, kLongestAskSeconds);
  }
  const Result<Json> job = writer_.GetOwner(step.job, meta.key.space);
  if (!job && job.error().kind == ErrorKind::kTransient) return job.error();
  if (!job) {
    log_.Warning("job not read",
                 {{"placement", api::Show(meta.key)}, {"error", job.error().message}});
    return kAgain;
  }
  cluster::Completed completed = cluster::CompletedOf(*job, placement.workers);
  const bool new_to_us = completed.job == step.job.uid && !completed.indexes.empty() &&
                         completed != cluster::CompletedOf(placement);
  if (!new_to_us) return kAgain;
  Answer told = Do(placement, life::WritePlacement{{.keeps_nodes = true,
                                                    .conditions = placement.conditions,
                                                    .excluded = placement.excluded,
                                                    .retry = placement.retry,
                                                    .completed = std::move(completed)}});
  if (!told && told.error().kind == ErrorKind::kConflict) Forget(meta.key);
  return told;
}

PlacementController::Answer PlacementController::Do(const api::Placement& placement,
                                                    const life::Wait& step) {
  if (!step.seconds) Forget(placement.meta.key);  // it is not short of pods
  return Outcome{.waits = true, .seconds = step.seconds};
}

}  // namespace weft::controllers
