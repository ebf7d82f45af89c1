// How good placements of large jobs are, by family and number of workers: the cost over the best
// placement known, and over the proven bound.
//
//   quality [--first SEED] [--count N] [--family N,...] [--workers N,...] [--effort NAME]
//           [--reference FILE] [--starts N] [--times N] [--anneal N] [--seconds-each S]
//
// Instances have the seeds SEED, SEED + 1, ... The best placement known is that of the reference
// file (quality_reference.h), or a better one that is found here: by the measured effort, and by
// `starts` searches at thorough effort with `times` its steps, and by simulated annealing with N
// million steps (anneal.h) from the best of these and from a block of consecutive slots. None of
// them begins once the searches of an instance have taken S seconds, or if the best placement costs
// as much as the bound. With --starts 0 nothing is searched, and the reference file gains no
// instances: this is the table for after a change of the solver. Prints a Markdown table, and on
// standard error each instance with its seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/anneal.h"
#include "tests/bench/quality_reference.h"
#include "tests/bench/quality_solve.h"
#include "tests/bench/quality_table.h"
#include "tests/support/large_instance.h"

namespace weft::quality {
namespace {

using objective::Candidate;
using objective::Effort;
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
  std::uint32_t starts = 3, times = 10, anneal = 20;
  double seconds_each = std::numeric_limits<double>::infinity();
};

Solved MustSolve(const RandomInstance& instance, const objective::SearchLimits& limits) {
  auto solved = Solve(instance, OptionsWith(limits));
  if (solved) return *std::move(solved);
  std::fprintf(stderr, "not placed: %s\n", instance.what.c_str());
  std::exit(1);
}

// Searches for a better placement of one instance than those known, as long as the time lasts.
class Quest {
 public:
  Quest(const RandomInstance& instance, const Arguments& arguments, const Solved& measured,
        const Known& known)
      : instance_(instance), arguments_(arguments), mine_(measured.candidate), best_(known) {
    Keep(measured, EffortName(arguments.effort) + " effort");
  }

  const Known& best() const { return best_; }

  void Run() {
    SearchThoroughly();
    if (arguments_.starts == 0 || arguments_.anneal == 0) return;
    const objective::Instance prepared(*instance_.claims, instance_.request, *instance_.graph,
                                       OptionsWith({}));
    if (MoreWanted()) Cool(prepared, mine_, kWarm, "annealing from the best");
    if (!MoreWanted()) return;
    const auto block = LayBlock(prepared, mine_);
    if (block) Cool(prepared, *block, kHot, "annealing from a block");
  }

 private:
  // See AnnealOptions::first_accepted.
  static constexpr double kWarm = 0.003, kHot = 0.1;

  bool MoreWanted() const {
    const bool proven =
        mine_.preferences == best_.objective.preferences && best_.objective.cost <= bound_;
    return !proven && Seconds() - begin_ < arguments_.seconds_each;
  }

  void SearchThoroughly() {
    objective::SearchLimits limits = objective::LimitsOf(Effort::kThorough);
    limits.refine_steps *= arguments_.times;
    limits.refine_steps_per_piece *= arguments_.times;
    limits.refine_steps_on_torus *= arguments_.times;
    limits.refine_steps_per_piece_on_torus *= arguments_.times;
    limits.anneal_steps_per_worker *= arguments_.times;
    limits.fewest_anneal_steps *= arguments_.times;
    limits.anneal_steps *= arguments_.times;
    limits.improve_steps *= arguments_.times;
    for (limits.seed = 1; limits.seed <= arguments_.starts && MoreWanted(); ++limits.seed) {
      Keep(MustSolve(instance_, limits), "thorough x" + std::to_string(arguments_.times) +
                                             ", seed " + std::to_string(limits.seed));
    }
  }

  void Cool(const objective::Instance& prepared, const Candidate& start, double accepted,
            const std::string& who) {
    AnnealOptions options;
    options.steps = std::uint64_t{arguments_.anneal} * 1'000'000;
    options.first_accepted = accepted;
    const Candidate found = Anneal(prepared, start, options);
    std::fprintf(stderr, "  %s: %.5f -> %.5f of the best before\n", who.c_str(),
                 Ratio(start.cost, best_.objective.cost), Ratio(found.cost, best_.objective.cost));
    Keep({.candidate = found}, who);
  }

  void Keep(const Solved& found, const std::string& who) {
    if (found.candidate.preferences == mine_.preferences) bound_ = std::max(bound_, found.bound);
    if (found.candidate.objective() < mine_.objective()) mine_ = found.candidate;
    if (best_.objective <= found.candidate.objective()) return;
    best_.objective = found.candidate.objective();
    best_.who = who;
  }

  const RandomInstance& instance_;
  const Arguments& arguments_;
  const double begin_ = Seconds();
  Candidate mine_;  // the best found here; the reference has no nodes
  Known best_;
  Int128 bound_ = 0;
};

void Tell(const RandomInstance& instance, const Solved& measured, const Known& best) {
  std::fprintf(
      stderr, "%s: over best %.4f (%s), over bound %.4f, %.1f ms%s\n", instance.what.c_str(),
      Ratio(measured.candidate.cost, best.objective.cost), best.who.c_str(),
      Ratio(measured.candidate.cost, measured.bound), 1e3 * measured.seconds,
      measured.candidate.preferences == best.objective.preferences ? "" : ", PREFERENCE MISSED");
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
    const Solved measured = MustSolve(instance, objective::LimitsOf(arguments.effort));
    const std::optional<Known> known = reference.Find(key, fingerprint);
    const Known first{measured.candidate.objective(), fingerprint,
                      EffortName(arguments.effort) + " effort"};
    Quest quest(instance, arguments, measured, known.value_or(first));
    quest.Run();
    const Known& best = quest.best();
    if (known || arguments.starts > 0) reference.Offer(key, best);
    cell.Add({.cost = Ratio(measured.candidate.cost, best.objective.cost),
              .over_bound = Ratio(measured.candidate.cost, measured.bound),
              .milliseconds = 1e3 * measured.seconds,
              .missed = measured.candidate.preferences != best.objective.preferences,
              .known = known.has_value()});
    Tell(instance, measured, best);
  }
  return cell;
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
    const auto effort = objective::FindEffort(value);
    if (!effort) return false;
    arguments.effort = *effort;
  } else if (name == "--reference") {
    arguments.reference = value;
  } else if (name == "--starts") {
    arguments.starts = static_cast<std::uint32_t>(number);
  } else if (name == "--times") {
    arguments.times = static_cast<std::uint32_t>(number);
  } else if (name == "--anneal") {
    arguments.anneal = static_cast<std::uint32_t>(number);
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
  std::printf("Seeds %llu to %llu of each family and size at %s effort. The best known is that",
              static_cast<unsigned long long>(arguments.first),
              static_cast<unsigned long long>(arguments.first + arguments.count - 1),
              EffortName(arguments.effort).c_str());
  const bool file = !arguments.reference.empty();
  if (file) std::printf(" of %s (%zu instances)", arguments.reference.c_str(), reference.size());
  if (arguments.starts > 0) {
    std::printf(
        "%s of %u thorough searches with %u times their steps and two annealings of %u "
        "million steps",
        file ? " and" : "", arguments.starts, arguments.times, arguments.anneal);
  }
  std::printf("%s.\n\n", file || arguments.starts > 0 ? "" : " which is measured");
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
