#include "operator/cli/period.h"

#include <charconv>

namespace weft::cli {
namespace {

std::int64_t SecondsOf(char unit) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  switch (unit) {
    case 'w':
      return 7 * kDay;
    case 'd':
      return kDay;
    case 'h':
      return kHour;
    case 'm':
      return kMinute;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::int64_t> ParsePeriod(const std::string& text) {
  constexpr std::int64_t kLeast = 600, kMost = std::int64_t{3650} * 86'400;
  std::int64_t seconds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || rest == end || number < 0 || number > kMost) return std::nullopt;
    const std::int64_t unit = SecondsOf(*rest);
    if (unit == 0) return std::nullopt;
    seconds += number * unit;
    if (seconds > kMost) return std::nullopt;
    at = rest + 1;
  }
  return seconds < kLeast ? std::nullopt : std::optional(seconds);
}

}  // namespace weft::cli
