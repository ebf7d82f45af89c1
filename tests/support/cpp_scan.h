#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::testing {

// C++ text as far as rules of style need it: no parser, one pass over characters.

// The text with comments, literals and preprocessor lines blanked, line by line where they were.
std::string CodeOnly(std::string_view text);

// Whether `name` stands in `line` as a whole word.
bool HasWord(std::string_view line, std::string_view name);

// Functions outside of functions, from the first line of their head to their closing brace. Bodies
// inside macros are not seen; the initializer list of a constructor may count apart from its body.
struct FunctionSpan {
  std::size_t first_line;
  std::size_t lines;
};
std::vector<FunctionSpan> FunctionsOf(std::string_view text);

}  // namespace weft::testing
