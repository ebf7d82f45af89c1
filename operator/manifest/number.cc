#include "operator/manifest/number.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace weft::manifest {

std::optional<nlohmann::json> ParseNumber(std::string_view text, bool integer) {
  if (text[0] == '+') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  if (integer) {
    std::int64_t whole = 0;
    if (std::from_chars(text.data(), end, whole).ec == std::errc()) return nlohmann::json(whole);
    std::uint64_t natural = 0;
    if (text[0] != '-' && std::from_chars(text.data(), end, natural).ec == std::errc()) {
      return nlohmann::json(natural);
    }
  }
  double number = 0;
  if (std::from_chars(text.data(), end, number).ec != std::errc()) {
    number = std::strtod(std::string(text).c_str(), nullptr);  // tells overflow from underflow
  }
  if (std::isinf(number)) return std::nullopt;
  return nlohmann::json(number);
}

}  // namespace weft::manifest
