#pragma once

#include "operator/base/units.h"
#include "operator/objective/instance.h"

namespace weft::placement {

// A lower bound of the job's cost on a torus; 0 if there is no torus. For each worker alone, its
// heaviest peers stand on its own node, as many as fit; the next on the six nodes one hop away,
// then on the eighteen two hops away, and so on, until the levels are cheaper.
//
// Cost  O(edges log edges + members of cliques).
Int128 HopBound(const Instance& instance);

}  // namespace weft::placement
