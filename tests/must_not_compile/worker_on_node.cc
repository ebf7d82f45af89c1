#include "operator/objective/levels.h"

namespace weft::objective {

// A node of a placement is found by its worker.
fabric::NodeIndex Second(const Candidate& candidate, [[maybe_unused]] fabric::NodeIndex node) {
#ifdef WEFT_SWAPPED
  return candidate.nodes[node];
#else
  return candidate.nodes[WorkerIndex{1}];
#endif
}

}  // namespace weft::objective
