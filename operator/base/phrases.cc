#include "operator/base/phrases.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

#include "operator/base/quantity.h"

namespace weft {
namespace {

// floor((100 x part + add) / whole); precondition: 0 <= add < whole.
std::int64_t Percent(Int128 part, Int128 whole, Int128 add) {
  // Larger values are shifted right first, so that 100 x part fits in 128 bits.
  constexpr Int128 kLarge = static_cast<Int128>(1) << 118;
  while (part > kLarge || whole > kLarge) {
    part >>= 1;
    whole >>= 1;
    add >>= 1;
  }
  if (whole <= 0) return kSaturated;
  const Int128 percent = (100 * part + add) / whole;
  return percent > kSaturated ? kSaturated : static_cast<std::int64_t>(percent);
}

}  // namespace

std::string CountText(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string BytesText(Int128 bytes) {
  std::string text = FormatBytes(bytes);
  const bool prefixed = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  text.insert(text.size() - (prefixed ? 1 : 0), " ");
  return text + "B";
}

std::string DurationText(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto two = [](std::int64_t value, std::int64_t small, std::int64_t large,
                      std::pair<const char*, const char*> names) {
    const std::int64_t units = value / small + (value % small != 0 ? 1 : 0);
    const std::int64_t each = large / small;
    std::string text = std::to_string(units / each) + names.first;
    if (units % each != 0) text += " " + std::to_string(units % each) + names.second;
    return text;
  };
  if (seconds < 2 * kMinute) return std::to_string(seconds) + " s";
  if (seconds < kHour) return two(seconds, 1, kMinute, {" min", " s"});
  if (seconds < kDay) return two(seconds, kMinute, kHour, {" h", " min"});
  return two(seconds, kHour, kDay, {" d", " h"});
}

std::string LinkTimeText(Int128 femtoseconds) {
  struct Unit {
    double femtoseconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1e15, "s"}, {1e12, "ms"}, {1e9, "us"}, {1e6, "ns"}}};
  const double value = static_cast<double>(femtoseconds);
  if (femtoseconds == 0) return "0 s";
  const auto unit = std::find_if(kUnits.begin(), kUnits.end() - 1,
                                 [&](const Unit& u) { return value >= u.femtoseconds; });
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", value / unit->femtoseconds, unit->name);
  if (value / unit->femtoseconds >= 1000) {
    std::snprintf(text.data(), text.size(), "%.0f %s", value / unit->femtoseconds, unit->name);
  }
  return text.data();
}

std::int64_t PercentOf(Int128 part, Int128 whole) { return Percent(part, whole, whole / 2); }

std::int64_t PercentUp(Int128 part, Int128 whole) { return Percent(part, whole, whole - 1); }

}  // namespace weft
