#include "operator/objective/instance.h"

namespace weft::objective {

// The slots of the worker's node, not of the node with the worker's number.
std::uint32_t SlotsAt(const Instance& instance, Nodes nodes, WorkerIndex worker) {
#ifdef WEFT_SWAPPED
  return nodes.empty() ? 0 : instance.slots()[worker];
#else
  return nodes.empty() ? 0 : instance.slots()[nodes[worker]];
#endif
}

}  // namespace weft::objective
