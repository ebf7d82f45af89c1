#pragma once

namespace weft {

// Whether the character is an ASCII digit; unlike std::isdigit, for every char and in every locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace weft
