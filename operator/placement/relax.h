#pragma once

#include <string>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/claims.h"
#include "operator/objective/levels.h"
#include "operator/objective/request.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// One constraint that, if relaxed, lets an unplaceable job start now, and the cost of that
// placement.
struct Relaxation {
  // "topology.required", "topology.groups[0].required", "nodeSelector", ...
  std::string constraint;
  // "leaf -> spine", "removed", "removed, to run on NVIDIA-H100-80GB-HBM3" if the job could not run
  // on that product before.
  std::string change;
  Int128 cost = 0;
  objective::Preferences preferences{};
  ByWorker<fabric::NodeIndex> nodes;
};
std::vector<Relaxation> FindRelaxations(const fabric::Claims& claims,
                                        const objective::Request& request,
                                        const traffic::WorkerGraph& graph,
                                        const objective::Options& options = {});

}  // namespace weft::placement
