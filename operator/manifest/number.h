#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace weft::manifest {

// A decimal number of YAML or JSON: a signed 64-bit integer where it is one, else unsigned, else a
// double, as is everything with a fraction or an exponent. nullopt past the range of a double.
// Precondition  PlainKind says kInteger (`integer`) or kFloat.
std::optional<nlohmann::json> ParseNumber(std::string_view text, bool integer);

}  // namespace weft::manifest
