#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/training_job.h"
#include "operator/base/refusal.h"
#include "operator/base/timestamp.h"
#include "operator/life/job_status.h"
#include "operator/life/node_state.h"

namespace weft::life {

inline constexpr const char* kFinalizer = "weft.dev/claims";
inline constexpr const char* kJobUidLabel = "weft.dev/job-uid";

// Limits of a job's life that the operator's administrator sets.
struct LifeOptions {
  std::int64_t bind_deadline_seconds = 60;  // from the last pod's creation to all pods bound
  std::int64_t node_loss_seconds = 60;      // a node not Ready for so long is lost
  bool verify_image = false;                // every pod gets an init container that reports
};

// What Kueue says of one job (queue.h).
struct QueueView {
  bool synced = true;                           // Kueue's kinds have been listed completely
  std::vector<const api::Workload*> workloads;  // controlled by the job's uid
  std::function<const api::ResourceFlavor*(const std::string&)> flavor;  // null: does not exist
  std::function<bool(const std::string&)> is_ours;  // whether Weft answers the AdmissionCheck
};

// One job and all its objects in the API server. Points into a snapshot.
struct JobView {
  const api::TrainingJob* job = nullptr;
  std::vector<const api::Placement*> placements;  // owned by the job's uid
  std::vector<const api::Pod*> pods;              // owned by the job's uid
  bool service = false;                           // the Service <job> exists for this attempt
  NodeStates node_state;
  // Of the job's next attempt, from the latest plan that included this job.
  std::optional<Refusal> refusal;
  UnixSeconds now = 0;
  UnixSeconds counted = 0;  // when status.workers was last written
  UnixSeconds tried = 0;    // when the last dry run of worker 0 was made
  // When an object of the attempt was last created; at least the time when this leader began.
  UnixSeconds created = 0;
  // The message of a successful dry run until it is in the status. It is not written alone but with
  // the next write.
  std::optional<std::string> valid;
  std::optional<QueueView> queue;  // nothing: the operator runs without --kueue
};

// One step: one write, or one batch of idempotent, deterministically named creates or deletes.
struct AddFinalizer {};
struct RemoveFinalizer {};
struct DryRun {};            // creates worker 0 as a dry run; the outcome becomes Accepted
struct RequestPlacement {};  // the planner answers in its next pass
struct CreateService {};
struct DeleteService {};
struct CreatePods {
  std::int64_t attempt = 0;
  std::vector<std::uint32_t> workers;
};
struct DeletePods {
  std::vector<const api::Pod*> pods;
};
struct DeletePlacements {
  std::vector<const api::Placement*> placements;
};
struct DeleteJob {};
struct WriteStatus {
  JobStatus status;
};
struct CreateWorkload {};  // asks Kueue for quota for all workers
struct WriteWorkload {
  const api::Workload* workload = nullptr;
  bool of_status = false;
  api::Raw patch;        // JSON merge patch, valid only for this state of the Workload
  std::string for_what;  // in the log
};
// Removes Kueue's finalizer and deletes.
struct DropWorkloads {
  std::vector<const api::Workload*> workloads;
};
// Writes status.queue; null removes it.
struct WriteQueue {
  api::Raw queue;
};
// Nothing to do until something changes, or until `seconds` have passed.
struct Wait {
  std::optional<std::int64_t> seconds;
};

using JobStep =
    std::variant<AddFinalizer, RemoveFinalizer, DryRun, RequestPlacement, CreateService,
                 DeleteService, CreatePods, DeletePods, DeletePlacements, DeleteJob, WriteStatus,
                 CreateWorkload, WriteWorkload, DropWorkloads, WriteQueue, Wait>;

// What to do next for one TrainingJob. Pure and level-based: the same view gives the same step,
// and a restarted operator continues where the last one stopped.
//
// Every attempt goes from Placed through its pods to Complete, or is taken down: first all pods,
// then its Placement, so that claims are released only when no pod can hold them. Pods of different
// attempts have different names, so a pod is never created twice for one attempt.
//
// A job whose spec cannot be read gets the condition Accepted=False, keeps the rest of its status,
// and is otherwise left alone until the spec can be read. Its deletion needs only metadata.
// Cost  O(pods + placements).
JobStep NextStep(const JobView& view, const LifeOptions& options);

// The attempt in the label of a pod or Placement; nothing if it has no such label.
std::optional<std::int64_t> AttemptLabel(const api::ObjectMeta& meta);
std::optional<std::uint32_t> WorkerLabel(const api::ObjectMeta& meta);

}  // namespace weft::life
