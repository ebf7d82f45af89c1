#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/decide/cluster.h"
#include "operator/decide/workload.h"

namespace weft::decide {

// All inputs of a decision as objects that `weft plan` reads back to the same answer: Fabrics
// (the recognised one too), Nodes, Pods that hold a node or wait for a Placement, assumed claims as
// Pods, PriorityClasses, Namespaces that name a fabric, and the pending workloads in decision order
// with excluded nodes and elapsed waits as annotations. Only what Weft reads is written: no
// secrets, no environment, no commands. With Mark::kInvalid an invalid job is left out and
// reported, since it takes no part in the plan.
struct SnapshotObjects {
  std::vector<nlohmann::ordered_json> objects;
  std::vector<std::string> left_out;  // why, one message each
};
Result<SnapshotObjects> Snapshot(const Cluster& cluster, Order order, Mark mark = Mark::kNo);

}  // namespace weft::decide
