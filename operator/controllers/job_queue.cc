// The writes of a TrainingJob's Workload in a queue of Kueue (life/kueue_quota.h).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/controllers/create_or_read.h"
#include "operator/controllers/job_controller.h"
#include "operator/controllers/worker_trial.h"
#include "operator/life/kueue_quota.h"
#include "operator/life/status_patch.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// status.queue as the API server has it: the definition of our kind may have changed it.
Json KeptQueue(const Json& stored) {
  return stored.value("status", Json::object()).value("queue", Json());
}

}  // namespace

std::optional<life::QueueView> JobController::QueueViewOf(const watch::JobObjects& objects) const {
  if (!options_.kueue_synced) return std::nullopt;
  life::QueueView queue;
  queue.synced = options_.kueue_synced();
  for (const auto& workload : objects.workloads) queue.workloads.push_back(workload.get());
  queue.flavor = [&objects](const std::string& name) {
    return objects.flavors.Find({"", name}).get();
  };
  queue.is_ours = [&objects](const std::string& name) {
    const auto check = objects.checks.Find({"", name});
    return check && check->controller == api::kCheckController;
  };
  return queue;
}

JobController::Answer JobController::StoreWorkload(const Pass& pass, const Named& stored) {
  if (!stored.taken.empty()) return NameTaken(pass, "CreateWorkload", stored.taken);
  auto workload = api::DecodeWorkload(stored.object, "Workload");
  if (!workload) return workload.error();
  store_.Put(*std::move(workload));
  return kAgain;
}

Result<launch::QueuePriority> JobController::PriorityOf(const api::TrainingJob& job) {
  launch::QueuePriority priority;
  priority.name = job.meta.labels.At(api::kQueuePriorityLabel).value_or("");
  if (priority.name.empty()) return priority;
  const auto found = writer_.Get({Kind::kWorkloadPriorityClass, {"", priority.name}, "", ""});
  if (found) {
    priority.value = found->value("value", std::int64_t{0});
    return priority;
  }
  if (found.error().kind != ErrorKind::kNotFound) return found.error();
  return Error{ErrorKind::kInvalid, "WorkloadPriorityClass " + priority.name + " of its label " +
                                        api::kQueuePriorityLabel + " does not exist"};
}

// The pods that the quota is for are those that admission makes of the template now, so they are
// tried once more.
JobController::Answer JobController::Do(const Pass& pass, const life::CreateWorkload&) {
  const api::TrainingJob& job = pass.job();
  const auto priority = PriorityOf(job);
  if (!priority) {
    return priority.error().kind == ErrorKind::kInvalid
               ? TrialRefused(pass, priority.error().message)
               : Answer(priority.error());
  }
  const auto trial = Try(pass);
  if (!trial) return trial.error();
  if (trial->refusal) return TrialRefused(pass, *trial->refusal);
  if (Status kept = WriteAdmission(job, trial->admission); !kept) return kept.error();
  const Json made = launch::MakeWorkload(job, trial->pod, kTrialNode, *priority);
  const Result<Named> stored = CreateOrRead(writer_, Kind::kWorkload, made);
  if (!stored && stored.error().kind == ErrorKind::kInvalid) {
    return TrialRefused(pass, "its Workload was refused: " + stored.error().message);
  }
  if (!stored) return stored.error();
  Answer answer = StoreWorkload(pass, *stored);
  if (answer) log_.Info("workload created", {{"job", api::Show(job.meta.key)}});
  return answer;
}

JobController::Answer JobController::Do(const Pass& pass, const life::WriteWorkload& step) {
  const api::ObjectMeta& meta = step.workload->meta;
  const Target target{Kind::kWorkload, meta.key, meta.uid, meta.resource_version};
  const Result<Json> stored = step.of_status ? writer_.PatchStatus(target, *step.patch)
                                             : writer_.Patch(target, *step.patch);
  if (!stored) return stored.error();
  log_.Info("workload written", {{"job", api::Show(pass.job().meta.key)},
                                 {"workload", meta.key.name},
                                 {"what", step.for_what}});
  auto workload = api::DecodeWorkload(*stored, "Workload");
  if (!workload) return workload.error();
  if (workload->meta.deleting && workload->meta.finalizers.empty()) {
    store_.Remove<api::Workload>({meta.key, meta.uid});
  } else {
    store_.Put(*std::move(workload));
  }
  return kAgain;
}

JobController::Answer JobController::Do(const Pass& pass, const life::DropWorkloads& step) {
  planner_.Drop(pass.job().meta.uid);
  for (const api::Workload* workload : step.workloads) {
    const api::ObjectMeta& meta = workload->meta;
    std::vector<std::string> finalizers = meta.finalizers;
    std::erase(finalizers, api::kWorkloadFinalizer);
    if (finalizers.size() != meta.finalizers.size()) {
      const auto stored =
          writer_.Patch({Kind::kWorkload, meta.key, meta.uid, meta.resource_version},
                        {{"metadata", {{"finalizers", finalizers}}}});
      if (!stored && stored.error().kind != ErrorKind::kNotFound) return stored.error();
    }
    const Status deleted = writer_.Delete({Kind::kWorkload, meta.key, meta.uid, ""});
    if (!deleted) return deleted.error();
    if (finalizers.empty()) store_.Remove<api::Workload>({meta.key, meta.uid});
    log_.Info("workload deleted",
              {{"job", api::Show(pass.job().meta.key)}, {"workload", meta.key.name}});
  }
  return kAgain;
}

JobController::Answer JobController::Do(const Pass& pass, const life::WriteQueue& step) {
  const api::ObjectMeta& meta = pass.job().meta;
  if (!step.queue) planner_.Drop(meta.uid);
  const Json queue = step.queue ? *step.queue : Json();
  const Json patch = life::MergePatch(KeptQueue(*pass.job().raw), queue);
  const auto stored =
      writer_.PatchStatus({Kind::kTrainingJob, meta.key, meta.uid, meta.resource_version},
                          {{"status", {{"queue", patch}}}});
  if (stored && KeptQueue(*stored) != queue) {
    return Error{ErrorKind::kInvalid,
                 "the cluster's definition of TrainingJobs has no status.queue: apply the "
                 "definitions of this version (crds/)"};
  }
  return StoreJob(stored);
}

}  // namespace weft::controllers
