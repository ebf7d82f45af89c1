// The law of ends: a job fails only for what its author and its programs did. And the law of
// trials: what a job's status says of admission is what the last dry run of its pods said.

#include "tests/world/laws.h"

namespace weft::world {
namespace {

std::string NameOfJob(const Json& job) { return api::Show(KeyOf(job)); }

// Whether a program of the pod ended by itself and said that it failed.
bool ProgramHasFailed(const Json& pod) {
  if (TextAt(pod, {"status", "phase"}) != "Failed" || IsDeleting(pod)) return false;
  if (!TextAt(pod, {"status", "reason"}).empty() || IsTrue(pod, "DisruptionTarget")) return false;
  for (const Json& container : At(pod, {"status", "containerStatuses"})) {
    const Json& end = At(container, {"state", "terminated"});
    const std::string reason = TextAt(end, {"reason"});
    // Nobody knows how it ended: its node was started again.
    if (reason == "Unknown" || reason == "ContainerStatusUnknown") continue;
    if (NumberAt(end, {"exitCode"}) != 0) return true;
  }
  return false;
}

// By its author's will (Users::Submit).
bool IsMeantToFail(const Json& job) {
  const std::string code = TextAt(
      job, {"spec", "workers", "template", "metadata", "annotations", "weft.test/exit-code"});
  return !code.empty() && code != "0";
}

// Whether its spec says that it fails for this reason, whatever its restarts.
bool IsAskedFor(const Json& job, const std::string& reason) {
  if (reason == "PodFailurePolicy") return !At(job, {"spec", "failurePolicy", "rules"}).empty();
  return reason == "DeadlineExceeded" && !At(job, {"spec", "activeDeadlineSeconds"}).is_null();
}

}  // namespace

void Laws::LookAtProgram(const Json& pod) {
  if (ProgramHasFailed(pod)) program_failures_[JobOf(pod)].insert(AttemptOf(pod));
}

void Laws::LookAtWhyFailed(const Json& job, const Json& before) {
  std::set<std::int64_t>& failures = program_failures_[UidOf(job)];
  const Json& last = At(job, {"status", "lastFailure"});
  if (TextAt(last, {"reason"}) == "StartupTimeout") failures.insert(NumberAt(last, {"attempt"}));
  const auto seen = static_cast<std::int64_t>(failures.size());
  const auto told = [&](const std::string& what) {
    Break("I10", NameOfJob(job) + what + ", and its programs failed in " + std::to_string(seen) +
                     " attempts: " + last.dump());
  };
  const std::int64_t restarts = NumberAt(job, {"status", "restarts"});
  if (restarts > seen && restarts > NumberAt(before, {"status", "restarts"})) {
    told(" counts restart " + std::to_string(restarts));
  }
  if (IsTrue(job, "Complete") && !IsTrue(before, "Complete") && IsMeantToFail(job)) {
    told(" is Complete, although its author lets it fail");
  }
  if (!IsTrue(job, "Failed") || IsTrue(before, "Failed")) return;
  const std::string reason = TextAt(ConditionOf(job, "Failed"), {"reason"});
  const std::int64_t most = NumberAt(job, {"spec", "failurePolicy", "maxRestarts"});
  if (seen <= most && !IsAskedFor(job, reason)) {
    told(" has failed (" + reason + ") with " + std::to_string(most) + " restarts allowed");
  }
}

// No clock that jumps or differs ends a deadline early.
void Laws::LookAtHaste(const Json& job, const Json& before) {
  constexpr std::int64_t kDefaultSeconds = 900, kSlackSeconds = 5;
  const Gang gang{UidOf(job), NumberAt(job, {"status", "attempt"})};
  if (IsTrue(job, "Placed") && !IsTrue(before, "Placed")) placed_[gang] = fibers_.now();
  const Json& why = ConditionOf(job, "Restarting");
  const bool begins = TextAt(why, {"status"}) == "True" && !IsTrue(before, "Restarting");
  const auto placed = placed_.find(gang);
  if (!begins || placed == placed_.end() || !options_.dates) return;
  const auto after =
      std::chrono::duration_cast<std::chrono::seconds>(fibers_.now() - placed->second).count();
  const Json& spec = At(job, {"spec", "startupTimeoutSeconds"});
  const std::int64_t most = spec.is_number() ? spec.get<std::int64_t>() : kDefaultSeconds;
  if (TextAt(why, {"reason"}) == "StartupTimeout" && after + kSlackSeconds < most) {
    Break("I10", NameOfJob(job) + " had " + std::to_string(after) + " of " + std::to_string(most) +
                     " s to start: " + why.dump());
  }
}

void Laws::NoteTrial(const Sent& sent, const Json& body) {
  if (sent.answer.status / 100 != 2) return;
  const auto job = cluster_.jobs.find(JobOf(body));
  if (job == cluster_.jobs.end()) return;
  const Json made = Json::parse(sent.answer.body);
  const auto changed = [&](const char* field) {
    const Json& now = At(made, {"spec", field});
    return now == At(body, {"spec", field}) ? Json() : now;
  };
  trials_[job->first] = {GenerationOf(*job->second), changed("nodeSelector"),
                         changed("tolerations")};
}

// When it is accepted.
void Laws::LookAtAdmission(const Json& job, const Json& before) {
  const Json& accepted = ConditionOf(job, "Accepted");
  const auto trial = trials_.find(UidOf(job));
  if (trial == trials_.end() || TextAt(accepted, {"status"}) != "True" ||
      NumberAt(accepted, {"observedGeneration"}) ==
          NumberAt(ConditionOf(before, "Accepted"), {"observedGeneration"}) ||
      NumberAt(accepted, {"observedGeneration"}) != trial->second.generation) {
    return;
  }
  const Json& told = At(job, {"status", "admission"});
  const bool taint = At(told, {"tolerations"}).dump().find("example.com/team") != std::string::npos;
  const bool tolerates =
      trial->second.tolerates.dump().find("example.com/team") != std::string::npos;
  if (At(told, {"nodeSelector"}) != trial->second.selector || taint != tolerates) {
    Break("I5", NameOfJob(job) + " was accepted with the selector " +
                    trial->second.selector.dump() + ", its status has " + told.dump());
  }
}

}  // namespace weft::world
