#include "operator/fabric/fabric.h"

namespace weft::fabric {

bool Offers(const Fabric& fabric, PoolIndex pool, ResourceIndex resource) {
#ifdef WEFT_SWAPPED
  return fabric.PoolOffers(resource, pool);
#else
  return fabric.PoolOffers(pool, resource);
#endif
}

}  // namespace weft::fabric
