#include "operator/manifest/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "operator/base/ascii.h"

namespace weft::manifest {
namespace {

// Whether the text is `lower` in one of YAML's spellings: word, Word or WORD.
bool Spells(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  const auto upper = [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  };
  if (text[0] != lower[0] && text[0] != upper(lower[0])) return false;
  const std::string_view rest = text.substr(1), low = lower.substr(1);
  return rest == low ||
         (text[0] != lower[0] && std::equal(rest.begin(), rest.end(), low.begin(),
                                            [&](char a, char b) { return a == upper(b); }));
}

std::size_t TakeDigits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// An integer is [-+]?(0|[1-9][0-9]*); with a fraction or an exponent it is a float.
Plain NumberKind(std::string_view text) {
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  const bool leading_zero = text.size() > 1 && text[0] == '0' && IsDigit(text[1]);
  const std::size_t whole = TakeDigits(text);
  if (leading_zero) return Plain::kText;
  if (text.empty()) return whole > 0 ? Plain::kInteger : Plain::kText;
  std::size_t fraction = 0;
  if (text[0] == '.') {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (whole + fraction == 0) return Plain::kText;
  if (text.empty()) return Plain::kFloat;
  if (text[0] != 'e' && text[0] != 'E') return Plain::kText;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return TakeDigits(text) > 0 && text.empty() ? Plain::kFloat : Plain::kText;
}

}  // namespace

Plain PlainKind(std::string_view text) {
  if (text.empty() || text == "~") return Plain::kNull;
  const char first = text[0];
  if (IsDigit(first) || first == '-' || first == '+' || first == '.') return NumberKind(text);
  if (text.size() > 5) return Plain::kText;  // longer than "false"
  if (Spells(text, "null")) return Plain::kNull;
  if (Spells(text, "true")) return Plain::kTrue;
  if (Spells(text, "false")) return Plain::kFalse;
  static constexpr std::array<std::string_view, 6> kAmbiguous = {"yes", "no", "on",
                                                                 "off", "y",  "n"};
  return std::any_of(kAmbiguous.begin(), kAmbiguous.end(),
                     [&](std::string_view word) { return Spells(text, word); })
             ? Plain::kAmbiguous
             : Plain::kText;
}

}  // namespace weft::manifest
