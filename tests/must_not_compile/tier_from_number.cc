#include "operator/fabric/fabric.h"

namespace weft::fabric {

const TierDomains& Second(const Fabric& fabric) {
#ifdef WEFT_SWAPPED
  return fabric.domains(std::uint32_t{1});
#else
  return fabric.domains(Tier{1});
#endif
}

}  // namespace weft::fabric
