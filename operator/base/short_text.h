#pragma once

#include <cstddef>
#include <string>

namespace weft {

// The text, or as much of it as fits with "..." into so many bytes. Never cuts a character of
// UTF-8 in two: a half would be stored as another one, and read back as a difference.
std::string Shorten(std::string text, std::size_t bytes);

}  // namespace weft
