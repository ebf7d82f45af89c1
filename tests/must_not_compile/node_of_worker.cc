#include "operator/placement/placement.h"

namespace weft::placement {

fabric::NodeIndex NodeOf(const Plan& plan, WorkerIndex worker) {
#ifdef WEFT_SWAPPED
  return plan.nodes[plan.nodes[worker]];
#else
  return plan.nodes[worker];
#endif
}

}  // namespace weft::placement
