#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "operator/decide/cluster.h"
#include "operator/decide/workload.h"

namespace weft::decide {

// A TrainingJob or a Placement of its own that has nodes now.
struct Running {
  Workload workload;
  const api::Placement* placement = nullptr;  // its Placement; points into the inputs
  std::size_t fabric = 0;                     // into Cluster::fabrics
  std::vector<fabric::NodeIndex> nodes;       // index = worker
};

// In the order of inputs.order. Left out: what is on a fabric or a node that is gone.
// Errors  kInvalid for a malformed annotation.
Result<std::vector<Running>> RunningWorkloads(const Cluster& cluster);

// inputs.order of everything, for inputs that were not read from files.
void OrderAll(api::Inputs& inputs);

// Predicted bytes that one workload sends out of one domain in one step.
struct DomainFlow {
  fabric::Tier tier = 0;
  fabric::DomainIndex domain = 0;
  Int128 bytes = 0;
  double milliseconds = 0;  // bytes / (accelerators x rate of the next wider level)
};

// One entry for every domain that the workload uses, narrower than outside; none without a model.
// Cost  O(ranks x axes x tiers), as placement::Score.
std::vector<DomainFlow> FlowsOf(const ClusterFabric& on, const Workload& workload,
                                const std::vector<fabric::NodeIndex>& nodes);

// Cost of its placement divided by the cost that the same solver finds on the empty fabric; 1 is
// the best. Absent if only the latter is 0, or if the workload does not fit even there.
// Cost  one search.
std::optional<double> CostOverBest(const ClusterFabric& on, const Workload& workload,
                                   const std::vector<fabric::NodeIndex>& nodes);

}  // namespace weft::decide
