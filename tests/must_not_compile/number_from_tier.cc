#include "operator/fabric/fabric.h"

namespace weft::fabric {

std::uint32_t Number(Tier tier) {
#ifdef WEFT_SWAPPED
  return tier;
#else
  return tier.Raw();
#endif
}

}  // namespace weft::fabric
