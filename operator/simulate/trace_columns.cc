#include "operator/simulate/trace_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "operator/base/timestamp.h"

namespace weft::simulate {
namespace {

constexpr double kMicrosPerSecond = 1e6;
// A hundred years: longer ones are slips, and sums of them would overflow.
constexpr double kMostSeconds = 100 * 366 * 86'400.0;

template <typename Number>
bool Parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsBlank(std::string_view line) { return import::Trim(line).empty(); }

// "2017-10-09 07:01:55" as RFC 3339.
std::string AsRfc3339(std::string_view text) {
  std::string time(text);
  constexpr std::size_t kDate = 10, kDateAndTime = 19;
  if (time.size() > kDate && time[kDate] == ' ') time[kDate] = 'T';
  const bool zoned =
      time.size() > kDateAndTime && time.find_first_of("Z+-", kDateAndTime) != std::string::npos;
  return zoned ? time : time + "Z";
}

}  // namespace

TraceColumns::TraceColumns(std::string source, std::string_view text, char separator)
    : source_(std::move(source)), lines_(text), separator_(separator) {}

Error TraceColumns::AtLine(const std::string& what) const {
  return import::AtLine(source_, lines_.number(), what);
}

Error TraceColumns::At(std::size_t column, const std::string& what) const {
  return AtLine("column " + header_[column] + ": " + what);
}

Status TraceColumns::Split(std::string_view line) {
  cells_.clear();
  while (true) {
    std::size_t end = 0;
    if (separator_ == ',' && line.starts_with('"')) {
      const std::size_t quote = line.find('"', 1);
      if (quote == std::string_view::npos) return AtLine("a quote is not closed");
      end = std::min(line.find(separator_, quote), line.size());
      cells_.push_back(line.substr(1, quote - 1));
    } else {
      end = std::min(line.find(separator_), line.size());
      cells_.push_back(import::Trim(line.substr(0, end)));
    }
    if (end == line.size()) return {};
    line.remove_prefix(end + 1);
  }
}

Status TraceColumns::ReadHeader() {
  while (lines_.Next()) {
    if (IsBlank(lines_.line())) continue;
    if (Status split = Split(lines_.line()); !split) return split;
    header_.assign(cells_.begin(), cells_.end());
    return {};
  }
  return Invalid(source_ + ": is empty; the first line must name the columns");
}

std::optional<std::size_t> TraceColumns::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  }
  return std::nullopt;
}

Result<std::size_t> TraceColumns::Need(std::initializer_list<std::string_view> names) const {
  if (const auto found = Find(names)) return *found;
  std::string wanted;
  for (const std::string_view name : names) {
    wanted += (wanted.empty() ? "" : " or ") + std::string(name);
  }
  return AtLine("no column is called " + wanted);
}

Result<bool> TraceColumns::Next() {
  do {
    if (!lines_.Next()) return false;
  } while (IsBlank(lines_.line()));
  if (Status split = Split(lines_.line()); !split) return split.error();
  if (cells_.size() >= header_.size()) return true;
  return AtLine("has " + std::to_string(cells_.size()) + " cells, and the first line names " +
                std::to_string(header_.size()) + " columns");
}

Result<std::int64_t> TraceColumns::Whole(std::size_t column) const {
  std::int64_t value = 0;
  if (Parse(cells_[column], value)) return value;
  return At(column, import::Quoted(cells_[column]) + " is not a whole number");
}

Result<std::uint32_t> TraceColumns::Count(std::size_t column) const {
  const auto number = Number(column);
  if (!number) return number.error();
  constexpr double kMost = 1 << 24;
  if (*number >= 0 && *number <= kMost && *number == std::floor(*number)) {
    return static_cast<std::uint32_t>(*number);
  }
  return At(column, import::Quoted(cells_[column]) + " is not a number of GPUs");
}

Result<double> TraceColumns::Number(std::size_t column) const {
  double value = 0;
  if (Parse(cells_[column], value) && std::isfinite(value)) return value;
  return At(column, import::Quoted(cells_[column]) + " is not a number");
}

Result<std::int64_t> TraceColumns::MicrosOf(std::size_t column) const {
  double value = 0;
  const bool number = Parse(cells_[column], value) && value >= 0 && value <= kMostSeconds;
  if (number) return std::llround(value * kMicrosPerSecond);
  return At(column, import::Quoted(cells_[column]) + " is not a number of seconds");
}

Result<std::int64_t> TraceColumns::Time(std::size_t column) const {
  double seconds = 0;
  if (Parse(cells_[column], seconds) && seconds >= 0 && seconds <= kMostSeconds) {
    return std::llround(seconds * kMicrosPerSecond);
  }
  if (const auto time = ParseTime(AsRfc3339(cells_[column]))) {
    return *time * static_cast<std::int64_t>(kMicrosPerSecond);
  }
  return At(column, import::Quoted(cells_[column]) +
                        " is neither a time such as 2017-10-09 07:01:55 nor a number of seconds");
}

Result<std::int64_t> TraceColumns::Duration(std::size_t column) const {
  std::string_view rest = cells_[column];
  const Error bad = At(column, import::Quoted(rest) + " is not a duration such as 1-02:03:04");
  std::int64_t days = 0;
  if (const std::size_t dash = rest.find('-'); dash != std::string_view::npos) {
    if (!Parse(rest.substr(0, dash), days) || days < 0) return bad;
    rest.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::int64_t part = 0;
    if (!Parse(rest.substr(0, end), part) || part < 0) return bad;
    seconds = seconds * 60 + part;
    more = end < rest.size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const double total = static_cast<double>(days) * 86'400 + static_cast<double>(seconds);
  if (total > kMostSeconds) return bad;
  return static_cast<std::int64_t>(total * kMicrosPerSecond);
}

}  // namespace weft::simulate
