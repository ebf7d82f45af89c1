#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/base/worker_index.h"
#include "operator/life/job_status.h"

namespace weft::life {

// One step: one write, or one batch of idempotent, deterministically named creates or deletes.
struct AddFinalizer {};
struct RemoveFinalizer {};
struct DryRun {};            // creates worker 0 as a dry run; the outcome becomes Accepted
struct RequestPlacement {};  // the planner answers in its next pass
struct CreateService {};
struct DeleteService {};
struct CreatePods {
  std::int64_t attempt = 0;
  std::vector<WorkerIndex> workers;
};
struct DeletePods {
  std::vector<const api::Pod*> pods;
};
struct DeletePlacements {
  std::vector<const api::Placement*> placements;
};
// Deletes what the workers of a finished job needed and no worker needs any more: the
// ComputeDomain, MPI's Secret. Then the Placement gets the condition kFilesDeleted, so that it
// happens once.
struct DeleteFiles {
  const api::Placement* placement = nullptr;
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
                 DeleteService, CreatePods, DeletePods, DeletePlacements, DeleteFiles, DeleteJob,
                 WriteStatus, CreateWorkload, WriteWorkload, DropWorkloads, WriteQueue, Wait>;

}  // namespace weft::life
