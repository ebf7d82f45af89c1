#pragma once

#include "operator/base/units.h"
#include "operator/objective/instance.h"

namespace weft::bound {

// A lower bound of the job's cost on a torus; 0 if the fabric has no torus. Each worker is priced
// alone, with its heaviest peers as near as possible: as many as fit on its own node, the next on
// the six nodes one hop away, then on the eighteen nodes two hops away, and so on, until the levels
// are cheaper than the hops.
//
// Cost  O(edges log edges + members of cliques).
Int128 HopBound(const objective::Instance& instance);

}  // namespace weft::bound
