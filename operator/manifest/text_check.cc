#include "operator/manifest/text_check.h"

#include <algorithm>

namespace weft::manifest {

std::size_t LineAt(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

std::string ForMessage(std::string_view text) {
  constexpr std::size_t kShownBytes = 120;
  return Excerpt(text, kShownBytes);
}

}  // namespace weft::manifest
