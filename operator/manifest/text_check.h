#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "operator/base/utf8.h"

namespace weft::manifest {

// The line of the byte at `offset`; the first line is 1.
std::size_t LineAt(std::string_view text, std::size_t offset);

// The text for a message: at most 120 bytes; control characters become '?'.
std::string ForMessage(std::string_view text);

}  // namespace weft::manifest
