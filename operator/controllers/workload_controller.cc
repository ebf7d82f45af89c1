#include "operator/controllers/workload_controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/encode.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/worker_order.h"
#include "operator/life/accept.h"
#include "operator/life/kueue_quota_patches.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// While Kueue's kinds are still being listed, a Workload may look as if its check were not Weft's.
constexpr std::int64_t kSyncSeconds = 1;

}  // namespace

WorkloadController::WorkloadController(watch::Store& store, watch::FabricCache& cache,
                                       ApiWriter& writer, Planner& planner, Log& log,
                                       Options options)
    : store_(store),
      cache_(cache),
      writer_(writer),
      planner_(planner),
      log_(log),
      options_(std::move(options)) {}

Result<Outcome> WorkloadController::Reconcile(const api::ObjectKey& key) {
  if (!options_.synced()) return Outcome{.waits = true, .seconds = kSyncSeconds};
  if (key.space.empty()) return ReconcileCheck(key);
  const auto objects = store_.ObjectsOfWorkload(key);
  if (!objects) {
    const std::lock_guard lock(mutex_);
    holds_.erase(key);
    return Outcome{};
  }
  const api::Workload& workload = *objects->workload;
  if (IsOrphan(workload)) return Release(workload);
  life::CheckView view;
  view.workload = &workload;
  for (const api::AdmissionCheckState& entry : workload.checks) {
    const auto check = objects->checks.Find({"", entry.name});
    if (check && check->controller == api::kCheckController) view.checks.push_back(check.get());
  }
  for (const auto& placement : objects->placements) view.placements.push_back(placement.get());
  const std::optional<watch::JobObjects> job = JobOf(workload);
  if (job) view.job = QueuedJobOf(*job);
  view.in_use = [this](const api::Placement& placement) { return InUse(placement); };
  view.flavor = [&](const std::string& name) { return objects->flavors.Find({"", name}).get(); };
  view.refusal = [this](const std::string& id) { return planner_.RefusalOf(id); };
  std::shared_ptr<const cluster::Fabrics> fabrics;
  view.fabrics = [&] {
    fabrics = cache_.Of(store_.SnapshotFabrics());
    std::vector<const fabric::FabricSpec*> specs;
    for (const auto& built : fabrics->built) specs.push_back(&built.fabric->spec());
    return specs;
  };
  view.now = options_.now();
  view.waits_since = HoldsSince(view);
  life::CheckStep step = life::NextCheckStep(view, options_.check);
  if (!life::StillAsks(step)) planner_.Withdraw(workload.meta.uid);
  return std::visit([&](auto& one) { return Do(workload, one); }, step);
}

UnixSeconds WorkloadController::HoldsSince(const life::CheckView& view) {
  const api::ObjectKey& key = view.workload->meta.key;
  const std::lock_guard lock(mutex_);
  if (!life::WaitsForWeft(view)) {
    holds_.erase(key);
    return view.now;
  }
  std::string reservation = life::ReservationOf(*view.workload);
  Hold& hold = holds_[key];
  if (hold.reservation != reservation) hold = {std::move(reservation), view.now};
  return hold.since;
}

// Nothing if no TrainingJob controls the Workload, or not any more.
std::optional<watch::JobObjects> WorkloadController::JobOf(const api::Workload& workload) const {
  const api::OwnerReference* owner = api::ControllingJob(workload.meta);
  if (owner == nullptr) return std::nullopt;
  auto job = store_.ObjectsOf({workload.meta.key.space, owner->name});
  if (job && job->job->meta.uid != owner->uid) job.reset();
  return job;
}

// The Workload of a TrainingJob that is gone: nobody else removes the finalizer.
bool WorkloadController::IsOrphan(const api::Workload& workload) const {
  const auto& finalizers = workload.meta.finalizers;
  return workload.meta.deleting && api::ControllingJob(workload.meta) && !JobOf(workload) &&
         std::find(finalizers.begin(), finalizers.end(), api::kWorkloadFinalizer) !=
             finalizers.end();
}

WorkloadController::Answer WorkloadController::Release(const api::Workload& workload) {
  const life::WriteWorkload step = life::RemoveWorkloadFinalizer(workload);
  const api::ObjectMeta& meta = workload.meta;
  const auto stored =
      writer_.Patch({Kind::kWorkload, meta.key, meta.uid, meta.resource_version}, *step.patch);
  if (!stored && stored.error().kind != ErrorKind::kNotFound) return stored.error();
  return Outcome{};  // the watch reports that it is gone
}

life::QueuedJob WorkloadController::QueuedJobOf(const watch::JobObjects& objects) const {
  const api::TrainingJob& job = *objects.job;
  life::QueuedJob queued;
  queued.refusal = life::RefusalOf(job);
  // A job that cannot start uses no nodes that were chosen before it was refused.
  const bool starts = !queued.refusal || cluster::HasCondition(job.conditions, "Placed");
  if (starts) queued.placement = life::CurrentPlacement(job, objects.placements);
  if (!queued.refusal) queued.refusal = planner_.RefusalOf(job);
  return queued;
}

// Whether a pod that the Placement selects may still run.
bool WorkloadController::InUse(const api::Placement& placement) const {
  const life::LossTimes times{options_.now(), options_.node_loss_seconds};
  const auto pods = store_.PodsOf(placement);
  return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
    return life::MayRun(*pod, store_.StateOfNode(pod->node_name), times).may_run;
  });
}

WorkloadController::Answer WorkloadController::Do(const api::Workload&, life::RequestNodes& step) {
  planner_.Enqueue(step.reservation, std::move(step.placements));
  if (step.seconds <= 0) return Outcome{.waits = true, .seconds = std::nullopt};
  return Outcome{.waits = true, .seconds = step.seconds};
}

// Writes only if the Workload has not changed since the decision: Kueue may have taken the quota
// back meanwhile.
WorkloadController::Answer WorkloadController::Do(const api::Workload& workload,
                                                  const life::AnswerCheck& step) {
  const api::ObjectMeta& meta = workload.meta;
  const Target target{Kind::kWorkload, meta.key, meta.uid, meta.resource_version};
  const Result<Json> stored =
      writer_.PatchStatus(target, Json(life::PatchOf(workload, step, options_.now())));
  if (!stored && stored.error().kind == ErrorKind::kConflict) return ReadAgain(target);
  if (!stored) return stored.error();
  if (step.state != api::CheckState::kPending) planner_.Withdraw(meta.uid);
  if (auto decoded = api::DecodeWorkload(*stored, "Workload")) store_.Put(*std::move(decoded));
  log_.Info("admission check " + std::string(api::CheckStateName(step.state)),
            {{"workload", api::Show(meta.key)}, {"why", step.message}});
  if (options_.counters)
    options_.counters->Add(metrics::Id::kAdmissionChecks,
                           {std::string(api::CheckStateName(step.state))});
  return Outcome{.again = true, .seconds = std::nullopt};
}

// Kueue writes a Workload twice more right after it has reserved quota, so an answer often comes
// too late for the version that it was decided on. Its own read is there before the watch's event.
WorkloadController::Answer WorkloadController::ReadAgain(const Target& target) {
  const Result<Json> stored = writer_.Get(target);
  if (!stored) return stored.error();
  auto decoded = api::DecodeWorkload(*stored, "Workload");
  if (!decoded) return decoded.error();
  if (decoded->meta.resource_version == target.resource_version) {
    return Error{ErrorKind::kConflict, "Workload " + api::Show(target.key) + " has not changed"};
  }
  store_.Put(*std::move(decoded));
  return Outcome{.again = true, .seconds = std::nullopt};
}

WorkloadController::Answer WorkloadController::Do(const api::Workload& workload,
                                                  const life::DropPlacements& step) {
  for (const api::Placement* placement : step.placements) {
    const api::ObjectMeta& meta = placement->meta;
    if (Status gone = writer_.Delete({Kind::kPlacement, meta.key, meta.uid, ""}); !gone) {
      return gone.error();
    }
    store_.Remove<api::Placement>({meta.key, meta.uid});
    log_.Info("placement deleted",
              {{"placement", api::Show(meta.key)}, {"workload", workload.meta.key.name}});
  }
  return Outcome{.again = true, .seconds = std::nullopt};
}

WorkloadController::Answer WorkloadController::Do(const api::Workload&, const life::Wait& step) {
  return Outcome{.waits = true, .seconds = step.seconds};
}

WorkloadController::Answer WorkloadController::ReconcileCheck(const api::ObjectKey& key) {
  const auto check = store_.At<api::AdmissionCheck>({"", key.name});
  if (!check || check->controller != api::kCheckController || check->meta.deleting) {
    return Outcome{};
  }
  api::Condition active = life::ActiveCondition(
      *check, [this](const std::string& name) { return store_.HasFabric(name); });
  active.observed_generation = check->meta.generation;
  std::vector<api::Condition> conditions = check->conditions;
  api::PutCondition(conditions, active, options_.now());
  if (conditions == check->conditions) return Outcome{};
  Json status = {{"conditions", Json(api::EncodeConditions(conditions))}};
  const api::ObjectMeta& meta = check->meta;
  const Result<Json> stored =
      writer_.PatchStatus({Kind::kAdmissionCheck, meta.key, meta.uid, meta.resource_version},
                          {{"status", std::move(status)}});
  if (!stored) return stored.error();
  if (auto decoded = api::DecodeAdmissionCheck(*stored, "AdmissionCheck")) {
    store_.Put(*std::move(decoded));
  }
  log_.Info("admission check Active=" + active.status,
            {{"check", meta.key.name}, {"why", active.message}});
  return Outcome{};
}

}  // namespace weft::controllers
