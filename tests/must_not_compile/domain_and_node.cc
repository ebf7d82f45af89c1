#include "operator/fabric/fabric.h"

namespace weft::fabric {

std::int64_t Accelerators(const Fabric& fabric, Tier tier, NodeIndex node) {
#ifdef WEFT_SWAPPED
  return fabric.AcceleratorsIn(tier, node);
#else
  return fabric.AcceleratorsIn(tier, fabric.domains(tier).of_node[node]);
#endif
}

}  // namespace weft::fabric
