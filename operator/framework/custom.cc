#include "operator/framework/custom.h"

namespace weft::framework {

const Traits& CustomTraits() {
  static constexpr Traits kTraits = {};
  return kTraits;
}

}  // namespace weft::framework
