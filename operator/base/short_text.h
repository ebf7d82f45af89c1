#pragma once

#include <cstddef>
#include <string>

namespace weft {

// The text, shortened to at most `bytes` bytes with "..." at its end. A UTF-8 character is never
// cut in two: the API server would replace it, and the text read back would differ.
std::string Shorten(std::string text, std::size_t bytes);

}  // namespace weft
