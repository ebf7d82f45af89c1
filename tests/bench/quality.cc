// How good placements of large jobs are, by family and number of workers: the cost over the best
// placement known, and over the proven bound.
//
//   quality [--first SEED] [--count N] [--family N,...] [--workers N,...] [--effort NAME]
//           [--reference FILE] [--starts N] [--times N] [--seconds-each S]
//
// Instances have the seeds SEED, SEED + 1, ... The best placement known is that of the reference
// file (quality_reference.h), or a better one that is found here: by the measured effort, and by
// `starts` searches at thorough effort with `times` its steps, of which none begins once the
// searches of an instance have taken S seconds. With --starts 0 nothing is searched, and the
// reference file gains no instances: this is the table for after a change of the solver. Prints a
// Markdown table, and on standard error each instance with its seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/placement/place.h"
#include "tests/bench/quality_reference.h"
#include "tests/bench/quality_table.h"
#include "tests/support/large_instance.h"

namespace weft::quality {
namespace {

using placement::Effort;
using placement::Objective;
using testing::Family;
using testing::RandomInstance;

// How large the clusters of jobs of so many workers are. Earlier jobs leave room for one: clusters
// on which the job does not fit are drawn again, which takes time.
struct Size {
  std::uint32_t workers, fewest_nodes, most_nodes, most_percent_used;
};
constexpr Size kSizes[] = {{64, 1'000, 4'000, 85},
                           {256, 1'000, 8'000, 70},
                           {1'024, 4'000, 20'000, 70},
                           {4'096, 13'000, 40'000, 60}};

struct Arguments {
  std::uint64_t first = 1, count = 10;
  std::vector<std::uint64_t> families, workers = {64, 256, 1'024, 4'096};
  Effort effort = Effort::kNormal;
  std::string reference;
  std::uint32_t starts = 3, times = 10;
  double seconds_each = std::numeric_limits<double>::infinity();
};

struct Solved {
  Objective objective;
  Int128 bound = 0;
  double seconds = 0;  // of the processor
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
  return {plan->candidate().objective(), plan->lower_bound, seconds};
}

double Ratio(Int128 cost, Int128 to) {
  return to == 0 ? 1 : static_cast<double>(cost) / static_cast<double>(to);
}

std::string EffortName(Effort effort) {
  return effort == Effort::kQuick ? "quick" : effort == Effort::kNormal ? "normal" : "thorough";
}

void Keep(Known& best, const Objective& found, const std::string& who) {
  if (best.objective <= found) return;
  best.objective = found;
  best.who = who;
}

// Improves `best` by searches that take much longer than a job waits.
void Search(const RandomInstance& instance, const Arguments& arguments, Known& best) {
  placement::SearchLimits limits = placement::LimitsOf(Effort::kThorough);
  limits.refine_steps *= arguments.times;
  limits.refine_steps_per_piece *= arguments.times;
  limits.improve_steps *= arguments.times;
  double seconds = 0;
  for (std::uint32_t start = 1; start <= arguments.starts; ++start) {
    if (seconds >= arguments.seconds_each) break;
    limits.seed = start;
    const Solved solved = Solve(instance, limits);
    seconds += solved.seconds;
    Keep(best, solved.objective,
         "thorough x" + std::to_string(arguments.times) + ", seed " + std::to_string(start));
  }
}

void Tell(const RandomInstance& instance, const Solved& measured, const Known& best) {
  std::fprintf(
      stderr, "%s: over best %.4f (%s), over bound %.4f, %.1f ms%s\n", instance.what.c_str(),
      Ratio(measured.objective.cost, best.objective.cost), best.who.c_str(),
      Ratio(measured.objective.cost, measured.bound), 1e3 * measured.seconds,
      measured.objective.preferences == best.objective.preferences ? "" : ", PREFERENCE MISSED");
}

Cell Measure(Family family, const Size& size, const Arguments& arguments, Reference& reference) {
  const testing::LargeOptions options = {.fewest_nodes = size.fewest_nodes,
                                         .most_nodes = size.most_nodes,
                                         .fewest_workers = size.workers,
                                         .most_workers = size.workers,
                                         .most_percent_used = size.most_percent_used};
  const std::string name(testing::FamilyName(family));
  Cell cell;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.count; ++seed) {
    const RandomInstance instance = testing::MakeLargeInstance(family, seed, options);
    const Key key{name, size.workers, seed};
    const std::uint64_t fingerprint = Fingerprint(instance.what);
    const Solved measured = Solve(instance, placement::LimitsOf(arguments.effort));
    const std::optional<Known> known = reference.Find(key, fingerprint);
    Known best = known.value_or(
        Known{measured.objective, fingerprint, EffortName(arguments.effort) + " effort"});
    Keep(best, measured.objective, EffortName(arguments.effort) + " effort");
    Search(instance, arguments, best);
    if (known || arguments.starts > 0) reference.Offer(key, best);

    cell.unknown += known ? 0 : 1;
    if (measured.objective.preferences == best.objective.preferences) {
      cell.over_best.values.push_back(Ratio(measured.objective.cost, best.objective.cost));
    } else {
      ++cell.missed;
    }
    cell.over_bound.values.push_back(Ratio(measured.objective.cost, measured.bound));
    cell.milliseconds.values.push_back(1e3 * measured.seconds);
    Tell(instance, measured, best);
  }
  return cell;
}

std::vector<std::uint64_t> Numbers(const char* text) {
  std::vector<std::uint64_t> numbers;
  for (char* end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    numbers.push_back(std::strtoull(text, &end, 10));
    if (end == text) break;  // not a number
  }
  return numbers;
}

// False if there is no such option.
bool Set(Arguments& arguments, std::string_view name, const char* value) {
  const std::uint64_t number = std::strtoull(value, nullptr, 10);
  if (name == "--first") {
    arguments.first = number;
  } else if (name == "--count") {
    arguments.count = number;
  } else if (name == "--family") {
    arguments.families = Numbers(value);
  } else if (name == "--workers") {
    arguments.workers = Numbers(value);
  } else if (name == "--effort") {
    const auto effort = placement::FindEffort(value);
    if (!effort) return false;
    arguments.effort = *effort;
  } else if (name == "--reference") {
    arguments.reference = value;
  } else if (name == "--starts") {
    arguments.starts = static_cast<std::uint32_t>(number);
  } else if (name == "--times") {
    arguments.times = static_cast<std::uint32_t>(number);
  } else if (name == "--seconds-each") {
    arguments.seconds_each = std::strtod(value, nullptr);
  } else {
    return false;
  }
  return true;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && Set(arguments, argv[i], argv[i + 1])) continue;
    std::fprintf(stderr, "quality: unknown option, or one without its value: %s\n", argv[i]);
    std::exit(2);
  }
  if (arguments.families.empty()) {
    for (std::size_t f = 0; f < testing::kFamilies; ++f) arguments.families.push_back(f);
  }
  return arguments;
}

const Size& SizeOf(std::uint64_t workers) {
  for (const Size& size : kSizes) {
    if (size.workers == workers) return size;
  }
  std::fprintf(stderr, "quality: no jobs of %llu workers; there are 64, 256, 1024 and 4096\n",
               static_cast<unsigned long long>(workers));
  std::exit(2);
}

void PrintCaption(const Arguments& arguments, const Reference& reference) {
  std::printf("Seeds %llu to %llu of each family and size at %s effort; the best known is that ",
              static_cast<unsigned long long>(arguments.first),
              static_cast<unsigned long long>(arguments.first + arguments.count - 1),
              EffortName(arguments.effort).c_str());
  if (!arguments.reference.empty()) {
    std::printf("of %s (%zu instances) and ", arguments.reference.c_str(), reference.size());
  }
  std::printf("of %u thorough searches with %u times their steps", arguments.starts,
              arguments.times);
  std::printf(".\n\n");
}

}  // namespace
}  // namespace weft::quality

int main(int argc, char** argv) {
  using namespace weft::quality;
  const Arguments arguments = Parse(argc, argv);
  Reference reference(arguments.reference);
  Table table;
  PrintCaption(arguments, reference);
  table.PrintHeading();
  for (const std::uint64_t workers : arguments.workers) {
    const Size& size = SizeOf(workers);
    for (const std::uint64_t f : arguments.families) {
      if (f >= weft::testing::kFamilies) continue;
      const auto family = static_cast<weft::testing::Family>(f);
      table.Add(weft::testing::FamilyName(family), size.workers,
                Measure(family, size, arguments, reference));
    }
  }
  table.PrintSummary();
  return 0;
}
