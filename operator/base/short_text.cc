#include "operator/base/short_text.h"

#include <string_view>

namespace weft {

std::string Shorten(std::string text, std::size_t bytes) {
  constexpr std::string_view kRest = "...";
  if (text.size() <= bytes) return text;
  if (bytes <= kRest.size()) return std::string(kRest.substr(0, bytes));
  std::size_t end = bytes - kRest.size();
  // The second and later bytes of a character are 10xxxxxx (RFC 3629).
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && continues(end)) --end;
  text.resize(end);
  text += kRest;
  return text;
}

}  // namespace weft
