#include "operator/render/text_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "operator/base/ascii.h"
#include "operator/base/quantity.h"
#include "operator/base/utf8.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

std::string Digits(double value, const char* unit) {
  std::array<char, 64> text{};
  const int decimals = value >= 100 || value == 0 ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  std::string out = text.data();
  if (out.find('.') != std::string::npos) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  return out + " " + unit;
}

}  // namespace

std::string MillisecondsText(double milliseconds) {
  constexpr double kSecond = 1000, kMinute = 60 * kSecond, kMicrosecond = 0.001;
  if (milliseconds >= 10 * kMinute) return Digits(milliseconds / kMinute, "min");
  if (milliseconds >= kSecond) return Digits(milliseconds / kSecond, "s");
  if (milliseconds >= 0.1 || milliseconds == 0) return Digits(milliseconds, "ms");
  return Digits(milliseconds / kMicrosecond, "us");
}

std::string PercentText(std::optional<std::int64_t> percent) {
  return percent ? Grouped(*percent) + " %" : "-";
}

std::string SecondsText(double seconds) { return MillisecondsText(seconds * 1000); }

std::string ShareText(double share) { return PercentText(std::lround(100 * share)); }

std::string WattsText(double watts) {
  if (watts < 1e6) return Grouped(std::lround(watts / 1e3)) + " kW";
  const std::int64_t tenths = std::lround(watts / 1e5);
  return Grouped(tenths / 10) + "." + std::to_string(tenths % 10) + " MW";
}

std::string RateText(std::int64_t bytes_per_second) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {
      {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}}};
  const auto value = static_cast<double>(bytes_per_second);
  for (const Unit& unit : kUnits) {
    if (value >= unit.size) return Digits(value / unit.size, unit.name);
  }
  return Digits(value, "B/s");
}

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string Counted(std::int64_t count, const std::string& noun) {
  return Grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

namespace {

// Whether the word, without punctuation after it, is a unit, which must stay on the line of its
// number.
bool IsUnit(std::string_view word) {
  constexpr std::array<std::string_view, 13> kUnits = {"%", "us", "ms", "s",  "min", "h", "d",
                                                       "B", "kB", "MB", "GB", "TB",  "PB"};
  const std::size_t last = word.find_last_not_of(",.;:)");
  const auto unit = word.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

// Splits a text where a line may end: at spaces, and at commas in brackets (other commas without a
// space are parts of numbers).
class Breaks {
 public:
  explicit Breaks(std::string_view text) : text_(text) {}

  bool Done() const { return at_ == text_.size(); }
  // The next word, with the unit after it.
  std::string_view Next() {
    const std::size_t begin = at_;
    std::size_t end = at_ = End(begin);
    SkipSpaces();
    const std::size_t next = std::min(text_.find(' ', at_), text_.size());
    if (end > begin && IsDigit(text_[end - 1]) && IsUnit(text_.substr(at_, next - at_))) {
      end = at_ = next;
      SkipSpaces();
    }
    return text_.substr(begin, end - begin);
  }
  // The number of spaces between the last word and the next one.
  std::size_t spaces() const { return spaces_; }

 private:
  std::size_t End(std::size_t at) {
    for (; at < text_.size() && text_[at] != ' '; ++at) {
      if (text_[at] == '[') in_brackets_ = true;
      if (text_[at] == ']') in_brackets_ = false;
      if (text_[at] == ',' && in_brackets_) return at + 1;
    }
    return at;
  }

  void SkipSpaces() {
    for (spaces_ = 0; at_ < text_.size() && text_[at_] == ' '; ++at_) ++spaces_;
  }

  std::string_view text_;
  std::size_t at_ = 0, spaces_ = 0;
  bool in_brackets_ = false;
};

}  // namespace

std::string Wrap(const std::string& lead, const std::string& text, std::size_t indent,
                 int columns) {
  const auto limit = static_cast<std::size_t>(std::max(columns, 1));
  std::string out, line = lead;
  std::size_t width = CodePoints(lead), spaces = 0;  // spaces are not written at the end of a line
  bool empty = true;                                 // no word on this line yet
  for (Breaks words(text); !words.Done();) {
    const std::string_view word = words.Next();
    if (!empty && width + spaces + CodePoints(word) > limit) {
      out += line + "\n";
      line = std::string(indent, ' ');
      width = indent;
    } else {
      line += std::string(spaces, ' ');
      width += spaces;
    }
    line += word;
    width += CodePoints(word);
    spaces = words.spaces();
    empty = false;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return out + line + "\n";
}

std::string Printable(const std::string& text) {
  constexpr unsigned char kDelete = 0x7F;
  std::string out = text;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == kDelete) c = '?';
  }
  return out;
}

}  // namespace weft::render
