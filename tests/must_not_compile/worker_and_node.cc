#include "operator/objective/seating.h"

namespace weft::objective {

// Whether workers 0 and 1 are on one node.
bool FirstTwoShareANode(const Seating& seating) {
#ifdef WEFT_SWAPPED
  return seating.node(seating.node(WorkerIndex{0})) == seating.node(WorkerIndex{1});
#else
  return seating.node(WorkerIndex{0}) == seating.node(WorkerIndex{1});
#endif
}

}  // namespace weft::objective
