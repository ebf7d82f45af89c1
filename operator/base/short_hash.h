#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

// FNV-1a, 32 bits, as eight hexadecimal digits: the same on every machine.
inline std::string ShortHash(std::string_view text) {
  constexpr const char* kHex = "0123456789abcdef";
  std::uint32_t hash = 0x811c9dc5U;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193U;
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += kHex[(hash >> shift) & 15U];
  return digits;
}

}  // namespace weft
