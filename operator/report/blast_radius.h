#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/cluster/problem.h"
#include "operator/fabric/claims.h"

namespace weft::report {

// What the loss of one domain of a level would do to a running job: of the domain that holds the
// most of its workers, the first of several.
struct BlastRadius {
  std::string level, domain;  // of the node level: the node's name
  std::uint32_t workers = 0;
  std::uint32_t stages = 0;  // pipeline stages that lose a worker; 0 without pipeline parallelism
  // The free nodes elsewhere could take the workers while the others stay, if only this job needed
  // them. Today the operator restarts a job that loses a node whole.
  bool survived = false;
  std::vector<std::string> into;  // domains of the level that would take them, by name
  std::uint32_t also_move = 0;    // healthy workers that would move with their group
  std::string why_not;            // a clause; "" if survived
  bool computed = true;           // false: too many workers; `survived` says nothing
};

// For every level from the widest to the node.
//
// claims  without the job's own. nodes: of each worker now.
// Cost    a placement::Replace for each level; two if the job avoids nodes.
std::vector<BlastRadius> BlastRadii(const fabric::Claims& claims, const cluster::Problem& problem,
                                    const ByWorker<fabric::NodeIndex>& nodes);

// "leaf l3: 16 workers, 4 pipeline stages; they could be replaced with free nodes in l1, l2, if
// only this job needed them".
std::string BlastText(const BlastRadius& radius);

}  // namespace weft::report
