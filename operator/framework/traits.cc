#include "operator/framework/traits.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"

namespace weft::framework {

// The headers of the frameworks declare these too. Here the rows of api/framework.h do, so that
// nothing has to be added for a new framework. One without a file of its own does not link.
#define WEFT_DECLARE_TRAITS(name, ...) const Traits& name##Traits();
WEFT_FRAMEWORKS(WEFT_DECLARE_TRAITS)
#undef WEFT_DECLARE_TRAITS

namespace {

// In the order of FrameworkType.
const auto& AllTraits() {
#define WEFT_TRAITS(name, ...) &name##Traits(),
  static const auto kAll = std::to_array<const Traits*>({WEFT_FRAMEWORKS(WEFT_TRAITS)});
#undef WEFT_TRAITS
  return kAll;
}

}  // namespace

bool Traits::StartedBy(std::string_view program) const {
  return std::find(launchers.begin(), launchers.end(), program) != launchers.end();
}

const Traits& TraitsOf(const api::Framework& framework) {
  const auto index = static_cast<std::size_t>(framework.type);
  WEFT_CHECK(index < AllTraits().size());
  return *AllTraits()[index];
}

bool IsLauncher(std::string_view program) {
  return std::any_of(AllTraits().begin(), AllTraits().end(),
                     [&](const Traits* traits) { return traits->StartedBy(program); });
}

}  // namespace weft::framework
