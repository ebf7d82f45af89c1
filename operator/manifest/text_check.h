#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "operator/base/result.h"

namespace weft::manifest {

// True for well-formed UTF-8 (RFC 3629: no overlong form, no surrogate) without NUL.
bool IsCleanUtf8(std::string_view text);
// Offset of the first byte that breaks it.
std::optional<std::size_t> FirstBadByte(std::string_view text);

// 1 for the first line.
std::size_t LineAt(std::string_view text, std::size_t offset);

// Text shown in a message: at most 120 bytes of it, control characters as '?'.
std::string ForMessage(std::string_view text);

}  // namespace weft::manifest
