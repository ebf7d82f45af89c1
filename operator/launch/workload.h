#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/training_job.h"

namespace weft::launch {

// A WorkloadPriorityClass; without a name, the priority of the pod counts.
struct QueuePriority {
  std::string name;
  std::int64_t value = 0;
};

// The Workload of Kueue that asks for quota for all workers of the job: one pod set, owned by the
// job, with Kueue's finalizer. `tried` is worker 0 as a dry run returned it for a node of the name
// `node`; the pod set's template is this pod without what belongs to one worker.
// Precondition  the job has the label kueue.x-k8s.io/queue-name.
nlohmann::json MakeWorkload(const api::TrainingJob& job, const nlohmann::json& tried,
                            const std::string& node, const QueuePriority& priority);

}  // namespace weft::launch
