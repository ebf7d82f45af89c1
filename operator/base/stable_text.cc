#include "operator/base/stable_text.h"

#include <algorithm>
#include <array>

#include "operator/base/ascii.h"
#include "operator/base/short_text.h"

namespace weft {
namespace {

constexpr std::string_view kLeftOut = "...";
constexpr std::size_t kSignsAtMost = 3;         // the same ones in a row
constexpr std::size_t kIdentifierAtLeast = 12;  // container runtimes shorten theirs to 12 digits

bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

// How many characters at the beginning are of that class.
template <typename Is>
std::size_t Run(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is) - text.begin());
}

// Length of a duration of Go, such as 1m20.5s, at the beginning; 0: there is none.
std::size_t DurationLength(std::string_view text) {
  constexpr std::array<std::string_view, 7> kUnits = {"ns", "us", "\u00b5s", "ms", "s", "m", "h"};
  std::size_t length = 0;
  while (length < text.size()) {
    const std::string_view rest = text.substr(length);
    const std::size_t number = Run(rest, [](char c) { return IsDigit(c) || c == '.'; });
    if (number == 0 || !IsDigit(rest[0])) break;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](std::string_view one) {
      return rest.substr(number).starts_with(one);
    });
    if (unit == kUnits.end()) return 0;
    length += number + unit->size();
  }
  return length < text.size() && IsWord(text[length]) ? 0 : length;
}

// Length of an identifier at the beginning; 0: there is none.
std::size_t IdentifierLength(std::string_view text) {
  const std::size_t length = Run(text, IsHex);
  if (length < kIdentifierAtLeast || (length < text.size() && IsWord(text[length]))) return 0;
  return std::any_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), IsDigit)
             ? length
             : 0;
}

std::string WithoutWhatVaries(std::string_view text) {
  std::string stable;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool begins = i == 0 || !(IsWord(text[i - 1]) || text[i - 1] == '.');
    const std::size_t port = rest[0] == ':' ? Run(rest.substr(1), IsDigit) : 0;
    if (port > 0 && rest.substr(1 + port).starts_with("->")) {
      i += 1 + port;
      continue;
    }
    const std::size_t varies =
        begins ? std::max(IdentifierLength(rest), DurationLength(rest)) : std::size_t{0};
    if (varies > 0) {
      stable += kLeftOut;
      i += varies;
    } else {
      stable += text[i++];
    }
  }
  return stable;
}

// Without control characters, and with single spaces.
std::string Joined(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool space = code <= 0x20U || code == 0x7fU;
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string OneLine(std::string_view text, std::size_t bytes) {
  std::string line;
  for (const char c : Joined(text)) {
    const bool sign = c == '-' || (c > ' ' && !IsWord(c));
    if (!sign || !line.ends_with(std::string(kSignsAtMost, c))) line += c;
  }
  if (line.size() <= bytes) return line;
  if (bytes <= kLeftOut.size()) return line.substr(line.size() - bytes);
  std::size_t begin = line.size() - (bytes - kLeftOut.size());
  // The second and later bytes of a character are 10xxxxxx (RFC 3629).
  while (begin < line.size() && (static_cast<unsigned char>(line[begin]) & 0xC0U) == 0x80U) ++begin;
  return std::string(kLeftOut) + line.substr(begin);
}

std::string StableText(std::string_view message, std::size_t bytes) {
  constexpr std::string_view kOutput = "\nOutput:";
  std::string text(message.substr(0, message.find('\n')));
  if (const std::size_t at = message.find(kOutput); at != message.npos) {
    const std::string_view output = message.substr(at + 1);
    text += " " + std::string(output.substr(0, output.find('\n')));
  }
  return Shorten(WithoutWhatVaries(Joined(text)), bytes);
}

}  // namespace weft
