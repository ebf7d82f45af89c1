#include "operator/render/node_ranges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/base/ascii.h"
#include "operator/base/natural_order.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

// Numbers with more digits count as text, because they would not fit in 64 bits.
constexpr std::size_t kDigitsAtMost = 18;
// How many numbers of a name, from its end, are tried; "ip-10-0-1-5.eu-west-1.compute" has six.
constexpr std::size_t kNumbersTried = 6;

// A name cut at one of its numbers.
struct Cut {
  std::string_view before, digits, after;
};

// The name cut at its `from_end`-th number from the end (0 is the last).
std::optional<Cut> CutAt(std::string_view name, std::size_t from_end) {
  std::size_t end = name.size();
  for (;;) {
    while (end > 0 && !IsDigit(name[end - 1])) --end;
    if (end == 0) return std::nullopt;
    std::size_t begin = end;
    while (begin > 0 && IsDigit(name[begin - 1])) --begin;
    if (from_end == 0) {
      if (end - begin > kDigitsAtMost) return std::nullopt;
      return Cut{name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
    }
    --from_end;
    end = begin;
  }
}

struct Numeral {
  std::int64_t value = 0;
  std::string_view digits;

  friend auto operator<=>(const Numeral&, const Numeral&) = default;
};

std::int64_t ValueOf(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

// Whether `digits` is `value` written with at least `width` digits.
bool Written(std::string_view digits, std::int64_t value, std::size_t width) {
  std::string text = std::to_string(value);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return digits == text;
}

// The numbers as text: "01-08,12".
std::string Runs(std::vector<Numeral> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string out;
  for (std::size_t begin = 0; begin < numbers.size();) {
    const std::size_t width = numbers[begin].digits.size();
    std::size_t end = begin + 1;
    while (end < numbers.size() &&
           Written(numbers[end].digits, numbers[end - 1].value + 1, width)) {
      ++end;
    }
    if (!out.empty()) out += ',';
    out += numbers[begin].digits;
    if (end - begin > 1) {
      out += end - begin == 2 ? ',' : '-';
      out += numbers[end - 1].digits;
    }
    begin = end;
  }
  return out;
}

// The text around one number of a name. Names that differ only in this number share it; a name
// without a number is alone.
struct Around {
  std::string_view before, after;
  bool numbered = false;

  friend auto operator<=>(const Around&, const Around&) = default;
};

std::map<Around, std::vector<Numeral>> GroupBy(const std::vector<std::string>& names,
                                               std::size_t from_end) {
  std::map<Around, std::vector<Numeral>> groups;
  for (const std::string& name : names) {
    if (const auto cut = CutAt(name, from_end)) {
      groups[{cut->before, cut->after, true}].push_back({ValueOf(cut->digits), cut->digits});
    } else {
      groups[{name, {}, false}] = {};
    }
  }
  return groups;
}

std::string GroupText(const Around& around, const std::vector<Numeral>& numbers) {
  if (!around.numbered) return std::string(around.before);
  const std::string runs = Runs(numbers);
  return std::string(around.before) + (numbers.size() == 1 ? runs : "[" + runs + "]") +
         std::string(around.after);
}

}  // namespace

std::string NodeRanges(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::map<Around, std::vector<Numeral>> best = GroupBy(names, 0);
  for (std::size_t from_end = 1; from_end < kNumbersTried && best.size() > 1; ++from_end) {
    auto groups = GroupBy(names, from_end);
    if (groups.size() < best.size()) best = std::move(groups);
  }
  std::vector<std::string> texts;
  for (const auto& [around, numbers] : best) texts.push_back(GroupText(around, numbers));
  std::sort(texts.begin(), texts.end(), NaturalLess);
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

std::string ShortRanges(std::vector<std::string> names, std::size_t most) {
  std::string text = NodeRanges(names);
  if (text.size() <= most || names.size() < 2) return text;
  std::sort(names.begin(), names.end(), NaturalLess);
  const auto first = [&](std::size_t count) {
    return NodeRanges({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)});
  };
  std::size_t fits = 1, too_many = names.size();
  while (fits + 1 < too_many) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    (first(middle).size() <= most ? fits : too_many) = middle;
  }
  return first(fits) + " and " + Grouped(static_cast<std::int64_t>(names.size() - fits)) + " more";
}

}  // namespace weft::render
