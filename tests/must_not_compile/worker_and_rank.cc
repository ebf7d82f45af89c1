#include "operator/traffic/traffic.h"

namespace weft::traffic {

RankIndex FirstOf(const GroupFamily& family, const SeatedGroups& seated) {
#ifdef WEFT_SWAPPED
  return seated.seats(0).front().worker;
#else
  return family.amount > 0 && seated.batches() > 0 ? family.group(0).front() : RankIndex{0};
#endif
}

}  // namespace weft::traffic
