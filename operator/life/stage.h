#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/life/job_status.h"

namespace weft::life {

// Progress of a job's current attempt, stored in the condition PodsReady. The condition's reason
// names the stage. Its status changes at every stage whose time counts, because a condition keeps
// its transition time while its status is the same.
enum class Stage : std::uint8_t {
  kNone,             //          no attempt, or one that is being taken down
  kCreating,         // False    pods are being created
  kBinding,          // Unknown  all pods exist; kube-scheduler has until the window ends
  kSchedulerSilent,  // False    kube-scheduler has not looked at one of them
  kSchedulingGated,  // False    pods wait for a scheduling gate of others
  kStarting,         // False    all are bound, and not all were ready yet
  kAllReady,         // True
  kNotAllReady,      // False    they were all ready once
};
Stage StageOf(const JobStatus& status);
// Since when, in the stages that begin with a move of the status.
std::optional<UnixSeconds> SinceStage(const JobStatus& status, Stage stage);

// Whether some of its pods may have no node.
bool MayBeUnbound(Stage stage);
// Whether all of its workers were ready once.
bool WasReady(Stage stage);

void SetStage(JobStatus& status, Stage stage, std::string message, UnixSeconds now);
// The stage kBinding as of now, however long it has lasted.
void OpenBinding(JobStatus& status, UnixSeconds now);

}  // namespace weft::life
