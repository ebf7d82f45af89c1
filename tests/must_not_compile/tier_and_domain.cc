#include "operator/fabric/fabric.h"

namespace weft::fabric {

std::int64_t Accelerators(const Fabric& fabric, Tier tier, DomainIndex domain) {
#ifdef WEFT_SWAPPED
  return fabric.AcceleratorsIn(domain, tier);
#else
  return fabric.AcceleratorsIn(tier, domain);
#endif
}

}  // namespace weft::fabric
