// The dry run of a TrainingJob's worker 0, and what follows from it.
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/controllers/job_controller.h"
#include "operator/controllers/worker_trial.h"
#include "operator/life/accept.h"
#include "operator/life/launcher.h"
#include "operator/life/status_patch.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

Target TargetOfJob(const api::ObjectMeta& meta) {
  return {Kind::kTrainingJob, meta.key, meta.uid, meta.resource_version};
}

// A clock that was put back makes nothing fresh.
bool IsFresh(UnixSeconds tried, UnixSeconds now) {
  return tried <= now && now - tried < life::kShortestDryRunSeconds;
}

}  // namespace

// Writes what admission makes of the pods to status.admission, where the planner, `weft plan` and
// the next leader read it.
Status JobController::WriteAdmission(const api::TrainingJob& job,
                                     const std::optional<api::Admission>& admission) {
  const Json status = job.raw->value("status", Json::object());
  const Json now = admission ? Json(api::EncodeAdmission(*admission)) : Json();
  if (status.value("admission", Json()) == now) return {};
  Json patch = life::MergePatch(status.value("admission", Json()), now);
  if (Seeded(Bug::kAdmissionMerged)) patch = admission ? now : status["admission"];
  const Answer stored =
      StoreJob(writer_.PatchStatus(TargetOfJob(job.meta), {{"status", {{"admission", patch}}}}));
  return stored ? Status() : stored.error();
}

// What was refused just now is not asked again: the status that says so may be refused in turn,
// because the job has changed meanwhile, and every try of it begins here.
Result<WorkerTrial> JobController::Try(const Pass& pass) {
  const api::TrainingJob& job = pass.job();
  {
    const std::lock_guard lock(mutex_);
    const Memory& memory = MemoryOf(job.meta);
    const bool of_this = memory.valid_generation == job.meta.generation && !memory.refused.empty();
    if (of_this && IsFresh(memory.tried, options_.now()) && !Seeded(Bug::kHotRefusal)) {
      return WorkerTrial{.refusal = memory.refused, .admission = {}, .pod = {}};
    }
  }
  return TryWorker(writer_, job);
}

JobController::Answer JobController::Do(const Pass& pass, const life::DryRun&) {
  const auto trial = Try(pass);
  if (!trial) return trial.error();
  const bool refused = trial->refusal.has_value();
  if (!refused) {
    const Status kept = WriteAdmission(pass.job(), trial->admission);
    if (!kept) return kept.error();
  }
  if (refused) return TrialRefused(pass, *trial->refusal);
  std::string valid = ValidText(pass.job());
  if (Seeded(Bug::kSecretTold)) valid += pass.job().raw->dump();
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(pass.job().meta);
  memory.tried = memory.refused_since = 0;
  memory.refused.clear();
  memory.valid = valid;
  memory.valid_generation = pass.job().meta.generation;
  return kAgain;
}

std::string JobController::ValidText(const api::TrainingJob& job) const {
  std::string text = "the job is valid";
  if (const auto launcher = life::WrongLauncher(job)) text += "; but " + *launcher;
  if (!options_.kueue_synced && job.meta.labels.contains(api::kQueueNameLabel)) {
    text += std::string("; but its label ") + api::kQueueNameLabel +
            " has no effect: the operator runs without --kueue (kueue.enabled of its Helm chart)";
  }
  return text;
}

JobController::Answer JobController::TrialRefused(const Pass& pass, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    Memory& memory = MemoryOf(pass.job().meta);
    if (memory.refused != why || !IsFresh(memory.tried, options_.now())) {
      memory.tried = options_.now();
    }
    // A clock that was put back begins anew.
    const bool counts = memory.refused_since != 0 && memory.refused_since <= memory.tried;
    if (!counts) memory.refused_since = memory.tried;
    memory.refused = why;
    memory.valid.clear();
    memory.valid_generation = pass.job().meta.generation;
  }
  const life::JobStatus status = life::AfterTrialRefused(*pass.view, why);
  if (status == life::StatusOf(pass.job())) return kAgain;  // the same refusal again
  return WriteStatusOf(pass, status);
}

}  // namespace weft::controllers
