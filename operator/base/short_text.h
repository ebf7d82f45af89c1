#pragma once

#include <cstddef>
#include <string>

namespace weft {

// The text, cut to `bytes` bytes with "..." at its end. Never cuts a UTF-8 character in two: the
// API server would store another one, and the text read back would differ.
std::string Shorten(std::string text, std::size_t bytes);

}  // namespace weft
