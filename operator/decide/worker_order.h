#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/result.h"

namespace weft::decide {

// Which worker of a Placement a pod is.
struct WorkerPod {
  const api::Pod* pod = nullptr;
  std::uint32_t worker = 0;

  friend bool operator==(const WorkerPod&, const WorkerPod&) = default;
};

// By name, digits by their number: "w-2" before "w-10".
bool NaturallyBefore(std::string_view a, std::string_view b);

// Assigns a worker to each pod, by worker: by spec.workerIndexLabels, else the free workers in the
// order of the pods' names. `taken[worker]` is the pod that is that worker already, else null.
// Errors  kInvalid in a sentence that names pods: no number, out of range, twice, too many.
// Cost    O(pods log pods).
Result<std::vector<WorkerPod>> AssignWorkers(const api::Placement& placement,
                                             std::vector<const api::Pod*> pods,
                                             const std::vector<const api::Pod*>& taken);

// Whether the pod waits for a Placement: its gate is the only one left.
bool IsGated(const api::Pod& pod);
// Succeeded or Failed: it holds nothing any more.
bool HasEnded(const api::Pod& pod);

}  // namespace weft::decide
