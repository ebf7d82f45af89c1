#pragma once

#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/workload.h"
#include "operator/placement/place.h"
#include "operator/traffic/traffic.h"

namespace weft::cluster {

// One workload resolved against one fabric: all that the solver reads.
struct Problem {
  traffic::Traffic traffic;
  objective::Request request;
  std::vector<fabric::NodeIndex> avoided;  // ascending
};
// Errors  kInvalid with the field's path: an unknown level, `preferred` wider than `required`,
//         degrees that do not divide the world.
Result<Problem> MakeProblem(const ClusterFabric& on, const WorkloadView& workload);

}  // namespace weft::cluster
