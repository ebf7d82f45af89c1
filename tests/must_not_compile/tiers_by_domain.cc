#include "operator/fabric/tiers.h"

namespace weft::fabric {

struct Place {
  Tier tier;
  DomainIndex domain;
};

const TierDomains& Around(const ByTier<TierDomains>& domains, Place place) {
#ifdef WEFT_SWAPPED
  return domains[place.domain];
#else
  return domains[place.tier];
#endif
}

}  // namespace weft::fabric
