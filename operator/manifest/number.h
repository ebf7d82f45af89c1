#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace weft::manifest {

// A decimal number of YAML or JSON. An integer becomes a signed, else an unsigned 64-bit integer if
// it fits, else a double. A number with a fraction or an exponent becomes a double. nullopt beyond
// the range of a double.
// Precondition  PlainKind(text) is kInteger (then `integer` is true) or kFloat.
std::optional<nlohmann::json> ParseNumber(std::string_view text, bool integer);

}  // namespace weft::manifest
