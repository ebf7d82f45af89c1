#include "operator/base/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace weft {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::int64_t kDaySeconds = 86'400, kHourSeconds = 3'600, kMinuteSeconds = 60;

// Takes digits off the front of a text.
class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}

  std::optional<int> Take(std::size_t count) {
    if (text_.size() < count) return std::nullopt;
    int value = 0;
    for (char c : text_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  // The number of `count` digits after the character `mark`.
  std::optional<int> After(char mark, std::size_t count) {
    if (text_.empty() || text_.front() != mark) return std::nullopt;
    text_.remove_prefix(1);
    return Take(count);
  }
  void SkipFraction() {
    if (text_.empty() || text_.front() != '.') return;
    const auto end = text_.find_first_not_of("0123456789", 1);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }
  // The offset "Z" or "+02:00" in seconds.
  std::optional<std::int64_t> Offset() {
    if (text_ == "Z" || text_ == "z") return 0;
    if (text_.size() != 6 || (text_[0] != '+' && text_[0] != '-')) return std::nullopt;
    const std::int64_t sign = text_[0] == '-' ? -1 : 1;
    const auto hours = After(text_[0], 2);
    const auto minutes = After(':', 2);
    if (!hours || !minutes) return std::nullopt;
    return sign * (*hours * kHourSeconds + *minutes * kMinuteSeconds);
  }

 private:
  std::string_view text_;
};

}  // namespace

std::string FormatTime(UnixSeconds time) {
  const std::chrono::sys_seconds point{std::chrono::seconds{time}};
  const auto days = std::chrono::floor<std::chrono::days>(point);
  const year_month_day date{days};
  const std::int64_t in_day = (point - days).count();
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(in_day / kHourSeconds),
                static_cast<int>(in_day / kMinuteSeconds % 60), static_cast<int>(in_day % 60));
  return text.data();
}

std::optional<UnixSeconds> ParseTime(std::string_view text) {
  Digits digits(text);
  const auto years = digits.Take(4);
  const auto months = digits.After('-', 2);
  const auto days = digits.After('-', 2);
  const auto hours = digits.After('T', 2);
  const auto minutes = digits.After(':', 2);
  const auto seconds = digits.After(':', 2);
  if (!years || !months || !days || !hours || !minutes || !seconds) return std::nullopt;
  digits.SkipFraction();
  const auto offset = digits.Offset();
  const year_month_day date{year{*years}, month{static_cast<unsigned>(*months)},
                            day{static_cast<unsigned>(*days)}};
  if (!offset || !date.ok() || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return sys_days{date}.time_since_epoch().count() * kDaySeconds + *hours * kHourSeconds +
         *minutes * kMinuteSeconds + *seconds - *offset;
}

}  // namespace weft
