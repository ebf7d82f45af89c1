#include "operator/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;
constexpr std::uint64_t kLowBits = 0x0101010101010101;

// Whether all eight bytes are in 0x01..0x7F.
bool AllPlain(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return ((word | (word - kLowBits)) & kHighBits) == 0;
}

}  // namespace

std::size_t SequenceBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead > 0 && lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
    if (lead == 0xED && second > 0x9F) return 0;  // surrogate
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (lead == 0xF0 && second < 0x90) return 0;  // overlong
    if (lead == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::optional<std::size_t> FirstBadByte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (at + sizeof(std::uint64_t) <= text.size() && AllPlain(text.data() + at)) {
      at += sizeof(std::uint64_t);
      continue;
    }
    const std::size_t length = SequenceBytes(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return {};
}

std::size_t CodePoints(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

std::string_view StartOf(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text;
  while (bytes > 0 && !StartsCharacter(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string Excerpt(std::string_view text, std::size_t bytes) {
  const std::string_view start = StartOf(text, bytes);
  std::string shown(start);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return start.size() < text.size() ? shown + "..." : shown;
}

}  // namespace weft
