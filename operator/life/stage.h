#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/life/job_status.h"

namespace weft::life {

// The progress of a job's current attempt, stored in the condition PodsReady: its reason is the
// stage. Its status changes at every stage whose start time is needed, because a condition keeps
// its transition time while its status is the same.
enum class Stage : std::uint8_t {
  kNone,             //          no attempt, or it is being taken down
  kCreating,         // False    pods are being created
  kBinding,          // Unknown  all pods exist; kube-scheduler has until the window ends
  kSchedulerSilent,  // False    kube-scheduler has not tried any of them
  kSchedulingGated,  // False    pods wait for another controller's scheduling gate
  kStarting,         // False    all are bound; not all have been ready yet (kubelet_wait.h)
  kAllReady,         // True
  kNotAllReady,      // False    all were ready once, but not now
};
Stage StageOf(const JobStatus& status);
// When the current stage began; only for stages that change the condition's status.
std::optional<UnixSeconds> SinceStage(const JobStatus& status, Stage stage);

// Whether pods of an attempt in this stage may have no node.
bool MayBeUnbound(Stage stage);
// Whether all workers of the attempt were ready at some time.
bool WasReady(Stage stage);

void SetStage(JobStatus& status, Stage stage, std::string message, UnixSeconds now);
// Sets the stage kStarting. `reason` says why workers wait at their kubelets; one that no condition
// may have becomes kContainerWaiting (start_reasons.h).
void SetStarting(JobStatus& status, std::string_view reason, std::string message, UnixSeconds now);
// Sets the stage kBinding with a start time of now, even if it is already set.
void OpenBinding(JobStatus& status, UnixSeconds now);

}  // namespace weft::life
