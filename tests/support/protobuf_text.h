#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::testing {

// Bytes of protobuf, written field by field.

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string Number(std::uint32_t field, std::uint64_t value) {
  return Varint(field << 3) + Varint(value);
}

// Text, a message or any other field that has a length.
inline std::string Part(std::uint32_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

inline std::string Entry(std::uint32_t field, std::string_view key, std::string_view value) {
  return Part(field, Part(1, key) + Part(2, value));
}

// As the API server wraps an object.
inline std::string Envelope(std::string_view kind, std::string_view object) {
  return std::string("k8s\0", 4) + Part(1, Part(1, "v1") + Part(2, kind)) + Part(2, object) +
         Part(3, "") + Part(4, "");
}

}  // namespace weft::testing
