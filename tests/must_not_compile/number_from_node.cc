#include "operator/fabric/fabric.h"

namespace weft::fabric {

std::uint32_t Number(NodeIndex node) {
#ifdef WEFT_SWAPPED
  return node;
#else
  return node.Raw();
#endif
}

}  // namespace weft::fabric
