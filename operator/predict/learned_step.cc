#include "operator/predict/learned_step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "operator/api/names.h"
#include "operator/base/timestamp.h"

namespace weft::predict {
namespace {

constexpr std::size_t kPartBytes = 80;  // a key of a ConfigMap has 253

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> PositiveNumber(std::string_view text) {
  const auto value = Parse<double>(text);
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Reads one entry line by line: a subset of YAML in which each line is a field or an item.
class Reader {
 public:
  Result<LearnedStep> Run(std::string_view text) {
    for (std::size_t at = 0; at < text.size() && why_.empty();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      TakeLine(Trimmed(text.substr(at, end - at)));
      at = end + 1;
    }
    if (!why_.empty()) return Invalid("line " + std::to_string(line_) + ": " + why_);
    if (!has_percent_) return Invalid("percent: is required");
    return std::move(entry_);
  }

 private:
  void TakeLine(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (line.starts_with("- ")) return TakeItem(line.substr(2));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return Fail(Quoted(line) + " must be \"field: value\"");
    const std::string_view rest = line.substr(colon + 1);
    TakeField(line.substr(0, colon), Unquoted(Trimmed(rest.substr(0, rest.find(" #")))));
  }

  void TakeField(std::string_view name, std::string_view value) {
    if (name == "percent") return TakePercent(value);
    if (name == "observations") return TakeObservations(value);
    if (name == "lastObserved") {
      if (!value.empty() && !ParseTime(value)) {
        return Fail("lastObserved: " + Quoted(value) + " must be a time such as " +
                    FormatTime(1'800'000'000));
      }
      entry_.last_observed = value;
    } else if (name == "counted") {
      in_list_ = true;
      if (!value.empty() && value != "[]") Fail("counted: must be a list");
    } else {
      Fail(Quoted(name) +
           " is not a field: an entry has percent, observations, lastObserved and "
           "counted");
    }
  }

  void TakePercent(std::string_view value) {
    if (value.ends_with("%")) value = Trimmed(value.substr(0, value.size() - 1));
    const auto percent = PositiveNumber(value);
    if (!percent || *percent < LearnedStep::kLeast || *percent > LearnedStep::kMost) {
      return Fail("percent: " + Quoted(value) + " must be a number from 20 to 500");
    }
    entry_.percent = *percent;
    has_percent_ = true;
  }

  void TakeObservations(std::string_view value) {
    const auto number = Parse<std::uint32_t>(value);
    if (!number || *number == 0 || *number > LearnedStep::kMostObservations) {
      return Fail("observations: " + Quoted(value) + " must be a whole number from 1 to " +
                  std::to_string(LearnedStep::kMostObservations));
    }
    entry_.observations = *number;
  }

  void TakeItem(std::string_view item) {
    const auto words = Words(item);
    const auto seconds = words.size() == 4 ? PositiveNumber(words[2]) : std::nullopt;
    const auto percent = words.size() == 4 ? PositiveNumber(words[3]) : std::nullopt;
    if (!in_list_ || !seconds || !percent) {
      return Fail(Quoted(item) +
                  " must be below \"counted:\" and have a Placement, the uid of its job, the "
                  "measured seconds and their percentage");
    }
    entry_.counted.push_back({std::string(words[0]), std::string(words[1]), *seconds, *percent});
  }

  void Fail(std::string why) { why_ = std::move(why); }

  LearnedStep entry_;
  std::string why_;
  int line_ = 0;
  bool has_percent_ = false, in_list_ = false;
};

// The shortest text that reads back as the same number.
std::string Exactly(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

// Two digits: people read it, and rounding never stops a mean of a thousand observations.
std::string Percent(double value) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 2).ptr;
  return {text.data(), end};
}

std::string KeyPart(std::string_view text) {
  std::string part(text.substr(0, kPartBytes));
  for (char& c : part) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-';
    if (!kept) c = '-';
  }
  return part;
}

double Bounded(double percent) {
  return std::clamp(percent, LearnedStep::kLeast, LearnedStep::kMost);
}

}  // namespace

Result<LearnedStep> ParseLearnedStep(std::string_view text) { return Reader().Run(text); }

std::string ShowLearnedStep(const LearnedStep& step) {
  std::string text = "percent: " + Percent(step.percent) +
                     "\nobservations: " + std::to_string(step.observations) + "\n";
  if (!step.last_observed.empty()) text += "lastObserved: " + step.last_observed + "\n";
  if (!step.counted.empty()) text += "counted:\n";
  for (const CountedStep& one : step.counted) {
    text += "- " + one.placement + " " + one.job_uid + " " + Exactly(one.seconds) + " " +
            Percent(one.percent) + "\n";
  }
  return text;
}

std::string LearnedStepKey(std::string_view release, std::string_view accelerator,
                           traffic::Precision precision) {
  return KeyPart(release.empty() ? "no-release" : release) + "_" + KeyPart(accelerator) + "_" +
         std::string(api::NameOf(api::kPrecisionNames, precision));
}

std::string LearnedStepKeyIn(std::string_view space, const std::string& key) {
  return key + "." + std::string(space);
}

// Neither a precision nor a namespace has '.' or '_'.
std::string_view SpaceOfLearnedStep(std::string_view key) {
  const std::size_t dot = key.rfind('.'), last = key.rfind('_');
  if (dot == key.npos || (last != key.npos && dot < last)) return {};
  return key.substr(dot + 1);
}

void Add(const CountedStep& step, LearnedStep& entry) {
  const double before = entry.observations;
  const double logs = before * std::log(entry.percent) + std::log(step.percent);
  entry.percent = Bounded(std::exp(logs / (before + 1)));
  if (entry.observations < LearnedStep::kMostObservations) ++entry.observations;
  entry.counted.push_back(step);
}

void Remove(std::size_t counted, LearnedStep& entry) {
  const double before = entry.observations;
  const double logs = before * std::log(entry.percent) - std::log(entry.counted[counted].percent);
  entry.percent = Bounded(std::exp(logs / (before - 1)));
  --entry.observations;
  entry.counted.erase(entry.counted.begin() + static_cast<std::ptrdiff_t>(counted));
}

void Replace(std::size_t counted, const CountedStep& step, LearnedStep& entry) {
  const double factor = step.percent / entry.counted[counted].percent;
  entry.percent = Bounded(entry.percent * std::pow(factor, 1.0 / entry.observations));
  entry.counted[counted] = step;
}

}  // namespace weft::predict
