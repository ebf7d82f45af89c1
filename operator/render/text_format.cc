#include "operator/render/text_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "operator/base/quantity.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

// Code points of UTF-8 text.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

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

std::string BytesText(Int128 bytes) {
  std::string text = FormatBytes(bytes);
  const bool prefixed = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  text.insert(text.size() - (prefixed ? 1 : 0), " ");
  return text + "B";
}

std::string MillisecondsText(double milliseconds) {
  constexpr double kSecond = 1000, kMinute = 60 * kSecond, kMicrosecond = 0.001;
  if (milliseconds >= 10 * kMinute) return Digits(milliseconds / kMinute, "min");
  if (milliseconds >= 10 * kSecond) return Digits(milliseconds / kSecond, "s");
  if (milliseconds >= 0.1 || milliseconds == 0) return Digits(milliseconds, "ms");
  return Digits(milliseconds / kMicrosecond, "us");
}

std::string PercentText(std::optional<std::int64_t> percent) {
  return percent ? Grouped(*percent) + " %" : "-";
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

std::string Counted(std::int64_t count, const std::string& noun) {
  return Grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Wrap(const std::string& lead, const std::string& text, std::size_t indent,
                 int columns) {
  const auto limit = static_cast<std::size_t>(std::max(columns, 1));
  const std::string space(indent, ' ');
  std::string out, line = lead;
  std::size_t width = Width(lead);
  bool empty = true;  // no word on this line yet
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != ',') ++end;
    while (end < text.size() && text[end] == ',') ++end;
    const std::string word = text.substr(at, end - at);
    if (!empty && width + Width(word) > limit) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += line + "\n";
      line = space;
      width = indent;
    }
    line += word;
    width += Width(word);
    empty = false;
    for (; end < text.size() && text[end] == ' '; ++end, ++width) line += ' ';
    at = end;
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
