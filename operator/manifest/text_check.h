#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "operator/base/utf8.h"

namespace weft::manifest {

// 1 for the first line.
std::size_t LineAt(std::string_view text, std::size_t offset);

// Text shown in a message: at most 120 bytes of it, control characters as '?'.
std::string ForMessage(std::string_view text);

}  // namespace weft::manifest
