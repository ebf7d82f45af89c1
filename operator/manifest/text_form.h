#pragma once

#include <string_view>

namespace weft::manifest {

std::string_view WithoutByteOrderMark(std::string_view text);

// A text is JSON if it starts with '[', or with '{' and then '"' or '}', and no line starts with
// "---". (A YAML map in flow style may start with a brace too, but its keys are seldom quoted.) Any
// other text is YAML, which a stream of JSON documents between "---" is too.
bool LooksLikeJson(std::string_view text);

}  // namespace weft::manifest
