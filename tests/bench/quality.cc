// How good placements of large jobs are, by family: the cost at normal and quick effort over the
// best of several thorough searches, and over the proven bound.
//
//   quality [--first SEED] [--count N] [--family N] [--starts N] [--times N]
//
// Instances have the seeds SEED, SEED + 1, ...; the reference is the best of `starts` searches at
// thorough effort with `times` its steps, and of everything else that was found. Prints a Markdown
// table, and on standard error each instance with its seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "operator/placement/place.h"
#include "tests/support/large_instance.h"

namespace weft {
namespace {

using placement::Effort;
using placement::Objective;
using testing::Family;
using testing::RandomInstance;

struct Arguments {
  std::uint64_t first = 1, count = 10;
  std::size_t family = testing::kFamilies;  // all
  std::uint32_t starts = 3, times = 10;
};

struct Solved {
  Objective objective;
  Int128 bound = 0;
  double microseconds = 0;  // of the processor
};

Solved Solve(const RandomInstance& instance, const placement::SearchLimits& limits) {
  placement::Options options;
  options.limits = limits;
  options.cost_tolerance_percent = 0;  // else a dearer placement may win for its footprint
  const std::clock_t begin = std::clock();
  const auto placement =
      placement::Place(*instance.claims, instance.request, *instance.graph, options);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto* plan = std::get_if<placement::Plan>(&placement);
  if (plan == nullptr) {
    std::fprintf(stderr, "not placed: %s\n", instance.what.c_str());
    std::exit(1);
  }
  return {plan->candidate().objective(), plan->lower_bound, seconds * 1e6};
}

double Ratio(Int128 cost, Int128 to) {
  return to == 0 ? 1 : static_cast<double>(cost) / static_cast<double>(to);
}

struct Column {
  std::vector<double> values;
  double Mean() const {
    double sum = 0;
    for (double value : values) sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }
  double Worst() const {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  }
  double Median() const {
    if (values.empty()) return 0;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

struct Row {
  Column normal, quick, over_bound, normal_time, quick_time;
  std::uint32_t missed = 0;  // instances whose preferences a thorough search keeps better

  void Add(const Solved& at_normal, const Solved& at_quick, const Objective& best) {
    missed += at_normal.objective.preferences != best.preferences ? 1 : 0;
    if (at_normal.objective.preferences == best.preferences) {
      normal.values.push_back(Ratio(at_normal.objective.cost, best.cost));
    }
    if (at_quick.objective.preferences == best.preferences) {
      quick.values.push_back(Ratio(at_quick.objective.cost, best.cost));
    }
    over_bound.values.push_back(Ratio(at_normal.objective.cost, at_normal.bound));
    normal_time.values.push_back(at_normal.microseconds);
    quick_time.values.push_back(at_quick.microseconds);
  }

  void Print(std::string_view name) const {
    std::printf(
        "| %s | %zu | %.4f | %.4f | %.4f | %.4f | %.3f | %.3f | %u | %.0f | %.0f | %.0f |\n",
        std::string(name).c_str(), normal_time.values.size(), normal.Mean(), normal.Worst(),
        quick.Mean(), quick.Worst(), over_bound.Mean(), over_bound.Worst(), missed,
        normal_time.Median(), normal_time.Worst(), quick_time.Median());
  }
};

Row Measure(Family family, const Arguments& arguments) {
  Row row;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.count; ++seed) {
    const RandomInstance instance = testing::MakeLargeInstance(family, seed);
    const Solved quick = Solve(instance, placement::LimitsOf(Effort::kQuick));
    const Solved normal = Solve(instance, placement::LimitsOf(Effort::kNormal));
    Objective best = std::min(quick.objective, normal.objective);
    placement::SearchLimits limits = placement::LimitsOf(Effort::kThorough);
    limits.refine_steps *= arguments.times;
    limits.refine_steps_per_piece *= arguments.times;
    limits.improve_steps *= arguments.times;
    for (std::uint32_t start = 1; start <= arguments.starts; ++start) {
      limits.seed = start;
      best = std::min(best, Solve(instance, limits).objective);
    }
    row.Add(normal, quick, best);
    std::fprintf(stderr, "%s: normal %.4f, over bound %.4f, %.0f us%s\n", instance.what.c_str(),
                 Ratio(normal.objective.cost, best.cost),
                 Ratio(normal.objective.cost, normal.bound), normal.microseconds,
                 normal.objective.preferences == best.preferences ? "" : ", PREFERENCE MISSED");
  }
  return row;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--first") {
      arguments.first = value;
    } else if (name == "--count") {
      arguments.count = value;
    } else if (name == "--family") {
      arguments.family = value;
    } else if (name == "--starts") {
      arguments.starts = static_cast<std::uint32_t>(value);
    } else if (name == "--times") {
      arguments.times = static_cast<std::uint32_t>(value);
    } else {
      std::fprintf(stderr, "quality: unknown option %s\n", argv[i]);
      std::exit(2);
    }
  }
  return arguments;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  const Arguments arguments = Parse(argc, argv);
  std::printf(
      "Seeds %llu to %llu of every family; the best of %u thorough searches with %u times "
      "their steps.\n\n",
      static_cast<unsigned long long>(arguments.first),
      static_cast<unsigned long long>(arguments.first + arguments.count - 1), arguments.starts,
      arguments.times);
  std::printf(
      "| family | instances | normal over best: mean | worst | quick over best: mean | worst "
      "| normal over bound: mean | worst | preferences missed | normal us: median | worst | "
      "quick us: median |\n| --- |%s\n",
      " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (std::size_t family = 0; family < testing::kFamilies; ++family) {
    if (arguments.family < testing::kFamilies && arguments.family != family) continue;
    Measure(static_cast<Family>(family), arguments)
        .Print(testing::FamilyName(static_cast<Family>(family)));
    std::fflush(stdout);
  }
  return 0;
}
