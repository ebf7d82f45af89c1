#include "operator/fabric/tiers.h"
#include "operator/traffic/ranks.h"

namespace weft {

// Compiled for each type that tests/CMakeLists.txt names.
std::uint32_t Number(WEFT_INDEX index) {
#ifdef WEFT_SWAPPED
  return index;
#else
  return index.Raw();
#endif
}

}  // namespace weft
