#include "operator/base/stable_text.h"

#include <algorithm>
#include <array>

#include "operator/base/ascii.h"
#include "operator/base/short_text.h"

namespace weft {
namespace {

constexpr std::string_view kLeftOut = "...";
constexpr std::size_t kSignsAtMost = 3;         // the same ones in a row
constexpr std::size_t kIdentifierAtLeast = 32;  // of a trace; of a container 64
constexpr std::array<std::size_t, 5> kUuidParts = {8, 4, 4, 4, 12};

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
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

// Length of a UUID at the beginning; 0: there is none.
std::size_t UuidLength(std::string_view text) {
  std::size_t length = 0;
  for (const std::size_t part : kUuidParts) {
    if (length > 0 && text.substr(length++, 1) != "-") return 0;
    if (length > text.size() || Run(text.substr(length), IsHex) != part) return 0;
    length += part;
  }
  return length;
}

// Length of an identifier at the beginning; 0: there is none.
std::size_t IdentifierLength(std::string_view text) {
  const std::size_t uuid = UuidLength(text), hex = Run(text, IsHex);
  const std::size_t length = uuid > 0 ? uuid : hex >= kIdentifierAtLeast ? hex : 0;
  return length < text.size() && IsWord(text[length]) ? 0 : length;
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

// The second and later bytes of a character are 10xxxxxx (RFC 3629).
bool IsInside(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// At most so many bytes of the text: of its end two thirds, because the cause is there.
std::string WithoutMiddle(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes || bytes <= kLeftOut.size()) return Shorten(text, bytes);
  const std::size_t kept = bytes - kLeftOut.size();
  std::size_t head = kept / 3, tail = text.size() - (kept - head);
  while (head > 0 && IsInside(text[head])) --head;
  while (tail < text.size() && IsInside(text[tail])) ++tail;
  return text.substr(0, head) + std::string(kLeftOut) + text.substr(tail);
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
  while (begin < line.size() && IsInside(line[begin])) ++begin;
  return std::string(kLeftOut) + line.substr(begin);
}

std::string StableText(std::string_view message, std::size_t bytes) {
  constexpr std::string_view kOutput = "\nOutput:";
  std::string text(message.substr(0, message.find('\n')));
  if (const std::size_t at = message.find(kOutput); at != message.npos) {
    const std::string_view output = message.substr(at + 1);
    text += " " + std::string(output.substr(0, output.find('\n')));
  }
  return WithoutMiddle(WithoutWhatVaries(Joined(text)), bytes);
}

}  // namespace weft
