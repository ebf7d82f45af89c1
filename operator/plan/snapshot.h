#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"

namespace weft::plan {

// All inputs of a decision as objects; `weft plan` on them gives the same answer. They are Fabrics
// (also a recognised one), Nodes, Pods that hold a node or wait for a Placement, assumed claims as
// Pods, PriorityClasses, Namespaces that name a fabric, and the pending workloads in decision
// order, with excluded nodes and elapsed waits as annotations. They contain only what Weft reads:
// no secrets, environment or commands. With Mark::kInvalid, invalid jobs are left out and reported,
// since they take no part in the plan.
struct SnapshotObjects {
  std::vector<nlohmann::ordered_json> objects;
  std::vector<std::string> left_out;  // one message for each object left out
};
Result<SnapshotObjects> Snapshot(const cluster::Cluster& cluster, cluster::Order order,
                                 cluster::Mark mark = cluster::Mark::kNo);

}  // namespace weft::plan
