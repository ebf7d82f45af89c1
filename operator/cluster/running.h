#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {

// A workload that has nodes now: a TrainingJob, or a Placement that no job owns.
struct Running {
  WorkloadView workload;
  const api::Placement* placement = nullptr;  // points into the inputs
  std::size_t fabric = 0;                     // into Cluster::fabrics
  ByWorker<fabric::NodeIndex> nodes;
};

// The running workloads, in the order of inputs.order. A workload is left out if its fabric or one
// of its nodes is gone. A malformed annotation, which any user may write, counts as absent.
// Errors  none so far.
Result<std::vector<Running>> RunningWorkloads(const Cluster& cluster);

// Fills inputs.order with all objects, for inputs that were not read from files.
void OrderAll(api::Inputs& inputs);

// Predicted bytes that one workload sends out of one domain in one step.
struct DomainFlow {
  fabric::Tier tier{0};
  fabric::DomainIndex domain{0};
  Int128 bytes = 0;
  double milliseconds = 0;  // bytes / (accelerators x rate of the next wider level)
};

// One entry for every domain, narrower than outside, that the workload uses; empty without a model.
// Cost  O(ranks x axes x tiers), as objective::Score.
std::vector<DomainFlow> FlowsOf(const ClusterFabric& on, const WorkloadView& workload,
                                objective::Nodes nodes);

// The cost of the workload's placement, divided by the cost that the solver finds on the empty
// fabric; 1 is best. Absent if only the latter is 0, or if the workload does not fit even there.
// Cost  one search.
std::optional<double> CostOverBest(const ClusterFabric& on, const Problem& problem,
                                   objective::Nodes nodes);

}  // namespace weft::cluster
