#include "operator/import/import_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace weft::import {
namespace {

constexpr std::size_t kMaxName = 253;  // RFC 1123, and the limit of a Kubernetes object's name
constexpr std::size_t kMaxDigits = 12;
constexpr std::string_view kBlank = " \t\r\n\v\f";

struct Range {
  std::uint64_t first = 0, last = 0;
  std::size_t width = 0;
};

bool ParseWhole(std::string_view text, std::uint64_t* value) {
  if (text.empty() || text.size() > kMaxDigits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

Result<Range> ParseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  if (high.empty()) high = low;  // Slurm reads "3-" as 3
  Range range;
  if (!ParseWhole(low, &range.first) || !ParseWhole(high, &range.last)) {
    return Invalid("the range " + Quoted(text) + " is not NUMBER or NUMBER-NUMBER");
  }
  if (range.last < range.first) {
    return Invalid("the range " + Quoted(text) + " runs backwards");
  }
  range.width = low.size();
  return range;
}

std::string Padded(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

Error TooMany(std::size_t limit) {
  return Invalid("the list names more than " + std::to_string(limit) + " nodes");
}

// All combinations of the prefixes and the numbers in one bracket, such as "1-3,07".
Result<std::vector<std::string>> Multiply(const std::vector<std::string>& prefixes,
                                          std::string_view inside, std::size_t limit) {
  std::vector<Range> ranges;
  std::uint64_t count = 0;
  while (true) {
    const std::size_t comma = inside.find(',');
    Result<Range> range = ParseRange(Trim(inside.substr(0, comma)));
    if (!range) return range.error();
    count += range->last - range->first + 1;
    if (count > limit || count * prefixes.size() > limit) return TooMany(limit);
    ranges.push_back(*range);
    if (comma == std::string_view::npos) break;
    inside.remove_prefix(comma + 1);
  }
  std::vector<std::string> names;
  names.reserve(count * prefixes.size());
  for (const std::string& prefix : prefixes) {
    for (const Range& range : ranges) {
      for (std::uint64_t value = range.first; value <= range.last; ++value) {
        names.push_back(prefix + Padded(value, range.width));
      }
    }
  }
  return names;
}

// One element of the list, its brackets expanded from left to right.
Result<std::vector<std::string>> ExpandOne(std::string_view element, std::size_t limit) {
  if (element.size() > kMaxName * 16)
    return Invalid("the name " + Quoted(element) + " is too long");
  std::vector<std::string> names{""};
  while (!element.empty()) {
    const std::size_t open = element.find_first_of("[]");
    for (std::string& name : names) name += element.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = element.find(']', open);
    if (element[open] == ']' || close == std::string_view::npos) {
      return Invalid("unbalanced bracket in " + Quoted(element));
    }
    auto longer = Multiply(names, element.substr(open + 1, close - open - 1), limit);
    if (!longer) return longer.error();
    names = *std::move(longer);
    element.remove_prefix(close + 1);
    if (names.front().size() > kMaxName) break;
  }
  if (names.front().empty()) return Invalid("an empty name in the list");
  if (names.front().size() > kMaxName) {
    return Invalid("the name " + Quoted(names.front()) + " is longer than 253 characters");
  }
  return names;
}

// The end of the first element: a comma or a blank outside brackets, or the end.
std::size_t ElementEnd(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    const bool separates = text[i] == ',' || kBlank.find(text[i]) != kBlank.npos;
    if (separates && depth <= 0) return i;
  }
  return text.size();
}

}  // namespace

Error AtLine(const std::string& source, std::size_t line, const std::string& what) {
  return Invalid(source + ": line " + std::to_string(line) + ": " + what);
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > kShown ? "...\"" : "\"");
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool Lines::Next() {
  if (done_ || rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  if (end == std::string_view::npos) {
    done_ = true;
  } else {
    rest_.remove_prefix(end + 1);
  }
  ++number_;
  return true;
}

Result<std::vector<std::string>> ExpandHostList(std::string_view text, std::size_t limit) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = ElementEnd(text);
    // Slurm skips empty names.
    if (const std::string_view one = Trim(text.substr(0, end)); !one.empty()) {
      auto some = ExpandOne(one, limit);
      if (!some) return some.error();
      if (names.size() + some->size() > limit) return TooMany(limit);
      names.insert(names.end(), some->begin(), some->end());
    }
    if (end == text.size()) return names;
    text.remove_prefix(end + 1);
  }
}

}  // namespace weft::import
