#include "operator/life/restart.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/names.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_text.h"
#include "operator/life/exclusion.h"
#include "operator/life/losses.h"

namespace weft::life {
namespace {

using api::FailureAction;

bool Counts(const api::FailurePolicy& policy, const Fault& fault) {
  // Without a node to replace, the next attempt would be the same.
  const bool replaces = fault.of_node && !fault.node.empty();
  if (fault.rule && fault.rule->action == FailureAction::kReplaceNode) return !replaces;
  if (fault.rule) return fault.rule->action == FailureAction::kRestart;
  return !IsInfrastructure(fault) || policy.infrastructure != "RestartUncounted";
}

Leave LeaveOf(const Fault& fault) {
  if (fault.rule && fault.rule->action == FailureAction::kReplaceNode) return Leave::kOut;
  return PolicyOf(fault.cause).leave;
}

// Excludes nodes from the next attempts; returns a text about it.
std::string LeaveOut(Life& life, const Fault& fault,
                     const std::optional<api::LastFailure>& before) {
  api::JobRecord& record = life.status.record;
  const Leave leave = LeaveOf(fault);
  if (fault.node.empty() || !fault.of_node || leave == Leave::kUsed) return "";
  if (leave == Leave::kOut) {
    return DroppedText(Exclude({fault.node}, life.view.now, record.excluded));
  }
  if (!before || before->attempt == life.status.attempt || before->node != fault.node) return "";
  return "; the next attempts avoid node " + fault.node + " if they can" +
         DroppedText(Exclude({fault.node}, life.view.now, record.excluded,
                             api::ExclusionEffect::kPreferNoSchedule));
}

// Restarts so far; none if the attempt ran for failurePolicy.resetAfterSeconds.
std::int64_t RestartsSoFar(const Life& life) {
  const api::FailurePolicy& policy = life.job.failure_policy;
  const auto ready = Since(life.status, "PodsReady");
  const bool reset = policy.reset_after_seconds && Is(life.status, "PodsReady") && ready &&
                     life.view.now - *ready >= *policy.reset_after_seconds;
  return reset ? 0 : life.status.record.restarts;
}

// A missing program does not appear by itself: two attempts in a row are enough to know.
bool IsMissingAgain(const Life& life, const Fault& fault) {
  const auto& before = life.status.record.last_failure;
  return fault.cause == Cause::kProgramFailed && fault.exit_code == kCommandNotFound && before &&
         before->exit_code == kCommandNotFound && before->attempt + 1 == life.status.attempt;
}

// Why no attempt follows the fault.
struct End {
  std::string reason, text;
};
std::optional<End> EndOf(const Life& life, const Fault& fault) {
  const api::FailurePolicy& policy = life.job.failure_policy;
  if (fault.rule && fault.rule->action == FailureAction::kFailJob) {
    return End{std::string(kPodFailurePolicy), ""};
  }
  if (!fault.rule && IsInfrastructure(fault) && policy.infrastructure == "Fail") {
    return End{fault.reason, ""};
  }
  if (!fault.rule && IsMissingAgain(life, fault)) {
    return End{fault.reason,
               "; the attempt before failed for the same reason, so the job is not tried again"};
  }
  if (!ExhaustsRestarts(life, fault) || Seeded(Bug::kRestartUncounted)) return std::nullopt;
  return End{policy.max_restarts == 0 ? fault.reason : "RestartsExhausted",
             "; failurePolicy.maxRestarts is " + std::to_string(policy.max_restarts)};
}

void CountRestart(Life& life, const Fault& fault) {
  api::JobRecord& record = life.status.record;
  record.restarts = RestartsSoFar(life);
  if (!Counts(life.job.failure_policy, fault) || Seeded(Bug::kRestartUncounted)) return;
  record.last_failure->counted = true;
  record.restarts += Seeded(Bug::kRestartTwice) ? 2 : 1;
}

api::LastFailure FailureOf(const Life& life, const Fault& fault) {
  return {life.status.attempt,
          fault.worker.Raw(),
          fault.of_node ? fault.node : "",
          Shorten(fault.reason, api::kTextAtMost),
          fault.exit_code,
          FormatTime(life.view.now),
          fault.said,
          std::string(CauseName(fault.cause)),
          false};
}

}  // namespace

bool EndsJob(const Life& life, const Fault& fault) { return EndOf(life, fault).has_value(); }

bool ExhaustsRestarts(const Life& life, const Fault& fault) {
  const api::FailurePolicy& policy = life.job.failure_policy;
  return Counts(policy, fault) && RestartsSoFar(life) >= policy.max_restarts;
}

void NoteFailure(Life& life, const Fault& fault) {
  life.status.record.last_failure = FailureOf(life, fault);
  NoteLoss(life, fault);
}

void Fail(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now) {
  SetCondition(status, {"Failed", true, reason, std::move(message)}, now);
  SetCondition(status, {"PodsReady", false, "Failed", "the job has failed"}, now);
  std::erase_if(status.conditions,
                [](const api::Condition& one) { return one.type == api::kRestartsAlone; });
  status.record.completion_time = FormatTime(now);
}

void Restart(Life& life, const Fault& fault) {
  JobStatus& status = life.status;
  const UnixSeconds now = life.view.now;
  std::string message = fault.message;
  if (fault.rule) message += "; " + fault.rule->text;
  const auto before = status.record.last_failure;
  const auto end = EndOf(life, fault);
  status.record.last_failure = FailureOf(life, fault);
  NoteLoss(life, fault);
  if (end) return Fail(status, end->reason, message + end->text, now);
  CountRestart(life, fault);
  message += LeaveOut(life, fault, before);
  status.record.retry = NextRetry(status.record.retry,
                                  {.cause = fault.cause,
                                   .uid = life.job.meta.uid,
                                   .attempt = status.attempt,
                                   .ready_seconds = ReadySeconds(life)},
                                  now);
  message += RetryText(status.record.retry);
  SetCondition(status, {"Restarting", true, fault.reason, message}, now);
  SetCondition(status, {"PodsReady", false, "Restarting", "the gang is being taken down"}, now);
}

void BlameAnew(Life& life, const Fault& fault) {
  api::JobRecord& record = life.status.record;
  WEFT_CHECK(record.last_failure && record.last_failure->attempt == life.status.attempt);
  WEFT_CHECK(IsInfrastructure(fault));
  const bool counted = record.last_failure->counted;
  const std::string time = record.last_failure->time;
  record.last_failure = FailureOf(life, fault);
  NoteLoss(life, fault);
  record.last_failure->time = time;
  record.last_failure->counted = counted;
  if (counted && !Counts(life.job.failure_policy, fault)) {
    record.restarts = std::max<std::int64_t>(0, record.restarts - 1);
    record.last_failure->counted = false;
  }
  const api::Retry before{std::max<std::int64_t>(0, record.retry.times - 1), ""};
  record.retry = NextRetry(before,
                           {.cause = fault.cause,
                            .uid = life.job.meta.uid,
                            .attempt = life.status.attempt,
                            .ready_seconds = std::nullopt},
                           life.view.now);
  SetCondition(life.status,
               {"Restarting", true, fault.reason, fault.message + RetryText(record.retry)},
               life.view.now);
}

}  // namespace weft::life
