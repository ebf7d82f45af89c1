#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace weft::manifest {

// A decimal number of YAML or JSON: a signed 64-bit integer if it fits, else an unsigned one, else,
// or with a fraction or an exponent, a double. nullopt past the range of a double.
// Precondition  PlainKind says kInteger (`integer`) or kFloat.
std::optional<nlohmann::json> ParseNumber(std::string_view text, bool integer);

}  // namespace weft::manifest
