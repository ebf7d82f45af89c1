#include "operator/fabric/fabric.h"

namespace weft::fabric {

bool Narrower(Tier a, [[maybe_unused]] Tier b, [[maybe_unused]] DomainIndex domain) {
#ifdef WEFT_SWAPPED
  return a > domain;
#else
  return a > b;
#endif
}

}  // namespace weft::fabric
