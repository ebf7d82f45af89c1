#pragma once

#include <string_view>

namespace weft::manifest {

std::string_view WithoutByteOrderMark(std::string_view text);

// JSON is what starts with '[', or with '{' and then '"' or '}': a map in YAML's flow style may
// start with a brace too, but there its keys are seldom quoted. Everything else is YAML.
bool LooksLikeJson(std::string_view text);

}  // namespace weft::manifest
