#include "tests/bench/quality_solve.h"

#include <cstdlib>
#include <ctime>
#include <limits>
#include <variant>

namespace weft::quality {

using objective::Effort;

double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

objective::Options OptionsWith(const objective::SearchLimits& limits) {
  objective::Options options;
  options.limits = limits;
  options.cost_tolerance_percent = 0;
  return options;
}

std::optional<Solved> Solve(const testing::RandomInstance& instance,
                            const objective::Options& options) {
  const double begin = Seconds();
  const auto placement =
      placement::Place(*instance.claims, instance.request, *instance.graph, options);
  const double seconds = Seconds() - begin;
  const auto* plan = std::get_if<placement::Plan>(&placement);
  if (plan == nullptr) return std::nullopt;
  return Solved{plan->candidate(), plan->lower_bound, plan->exact, seconds};
}

double Ratio(Int128 cost, Int128 to) {
  if (to == 0) return cost == 0 ? 1 : std::numeric_limits<double>::infinity();
  return static_cast<double>(cost) / static_cast<double>(to);
}

std::string EffortName(Effort effort) {
  return effort == Effort::kQuick ? "quick" : effort == Effort::kNormal ? "normal" : "thorough";
}

std::vector<std::uint64_t> Numbers(const char* text) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(text, &end, 10);
    if (end == text) return numbers;
    numbers.push_back(number);
    if (*end != ',') return numbers;
    text = end + 1;
  }
}

}  // namespace weft::quality
