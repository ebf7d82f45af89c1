// How long jobs of 4 to 16 workers take to place, which is what most clusters have, and how good
// their placements are.
//
//   small_jobs [--first SEED] [--count N] [--nodes N,...] [--effort NAME] [--reference FILE]
//
// Each row is a number of nodes, regular or irregular (small_instances.h), with N instances. The
// time is that of the processor for one Place with the fabric's tolerance, as the operator calls
// it; the less of two runs, because a machine that others use makes single runs slower. The cost is
// that of another Place without tolerance, over the reference: the best one that earlier runs with
// the same file found. Prints a Markdown table, and on standard error the slowest instances and
// those that are worse than the reference.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/bench/quality_reference.h"
#include "tests/bench/quality_solve.h"
#include "tests/bench/quality_table.h"
#include "tests/bench/small_instances.h"

namespace weft::quality {
namespace {

using objective::Effort;
using testing::RandomInstance;

// Goals of each row, in milliseconds.
constexpr double kMostP99 = 5, kMostSlowest = 20;
constexpr std::size_t kSlowestShown = 3;

struct Arguments {
  std::uint64_t first = 1, count = 300;
  std::vector<std::uint64_t> nodes = {32, 64, 200, 1'000};
  Effort effort = Effort::kNormal;
  std::string reference;
};

struct Row {
  Column milliseconds, over_reference;
  std::uint32_t exact = 0, proven = 0, refused = 0, missed = 0, worse = 0, better = 0;
  double cost = 0, reference_cost = 0;
  std::vector<std::pair<double, std::string>> slowest;

  void Print(const SmallCluster& cluster) const {
    const double p99 = milliseconds.Quantile(0.99), worst = milliseconds.Worst();
    std::printf(
        "| %u | %s | %zu | %.2f | %.2f | %.2f | %.2f | %s | %u | %u | %u | %.6f | %.4f | %u | %u | "
        "%u "
        "|\n",
        cluster.nodes, cluster.irregular ? "irregular" : "regular", milliseconds.values.size(),
        milliseconds.Quantile(0.5), milliseconds.Quantile(0.9), p99, worst,
        p99 <= kMostP99 && worst <= kMostSlowest ? "yes" : "no", exact, proven, refused,
        reference_cost == 0 ? 1 : cost / reference_cost, over_reference.Worst(), worse, better,
        missed);
    std::fflush(stdout);
  }
};

// Compares the placement with the reference, and improves that.
void Compare(const Key& key, const RandomInstance& instance, const Solved& solved,
             Reference& reference, Row& row) {
  const objective::Objective objective = solved.candidate.objective();
  const Known found{objective, Fingerprint(instance.what), solved.exact ? "exact" : "small_jobs"};
  const Known best = reference.Find(key, found.fingerprint).value_or(found);
  reference.Offer(key, found);
  row.worse += best.objective < objective ? 1 : 0;
  row.better += objective < best.objective ? 1 : 0;
  if (best.objective.preferences != objective.preferences) {
    row.missed += best.objective < objective ? 1 : 0;
  } else {
    row.over_reference.values.push_back(Ratio(objective.cost, best.objective.cost));
    row.cost += static_cast<double>(objective.cost);
    row.reference_cost += static_cast<double>(best.objective.cost);
  }
  if (best.objective < objective) {
    std::fprintf(stderr, "worse than the reference (%.4f): %s\n",
                 Ratio(objective.cost, best.objective.cost), instance.what.c_str());
  }
}

Row Measure(const SmallCluster& cluster, const Arguments& arguments, Reference& reference) {
  const std::string name =
      std::to_string(cluster.nodes) + (cluster.irregular ? " irregular nodes" : " regular nodes");
  Row row;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.count; ++seed) {
    const RandomInstance instance = MakeSmallInstance(cluster, seed);
    objective::Options as_operator;
    as_operator.limits = objective::LimitsOf(arguments.effort);
    double seconds = 0;
    for (int run = 0; run < 2; ++run) {
      const double begin = Seconds();
      Solve(instance, as_operator);
      const double took = Seconds() - begin;
      seconds = run == 0 ? took : std::min(seconds, took);
    }
    row.milliseconds.values.push_back(1e3 * seconds);
    row.slowest.emplace_back(1e3 * seconds, instance.what);
    const auto solved = Solve(instance, OptionsWith(as_operator.limits));
    if (!solved) {
      ++row.refused;
      continue;
    }
    row.exact += solved->exact ? 1 : 0;
    row.proven += solved->exact || solved->candidate.cost <= solved->bound ? 1 : 0;
    Compare({name, instance.request.workers, seed}, instance, *solved, reference, row);
  }
  std::sort(row.slowest.rbegin(), row.slowest.rend());
  for (std::size_t i = 0; i < std::min(kSlowestShown, row.slowest.size()); ++i) {
    std::fprintf(stderr, "%.2f ms: %s\n", row.slowest[i].first, row.slowest[i].second.c_str());
  }
  return row;
}

// False if there is no such option.
bool Set(Arguments& arguments, std::string_view name, const char* value) {
  if (name == "--first") {
    arguments.first = std::strtoull(value, nullptr, 10);
  } else if (name == "--count") {
    arguments.count = std::strtoull(value, nullptr, 10);
  } else if (name == "--nodes") {
    arguments.nodes = Numbers(value);
  } else if (name == "--effort") {
    const auto effort = objective::FindEffort(value);
    if (!effort) return false;
    arguments.effort = *effort;
  } else if (name == "--reference") {
    arguments.reference = value;
  } else {
    return false;
  }
  return true;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && Set(arguments, argv[i], argv[i + 1])) continue;
    std::fprintf(stderr, "small_jobs: unknown option, or one without its value: %s\n", argv[i]);
    std::exit(2);
  }
  return arguments;
}

}  // namespace
}  // namespace weft::quality

int main(int argc, char** argv) {
  using namespace weft::quality;
  const Arguments arguments = Parse(argc, argv);
  Reference reference(arguments.reference);
  std::printf(
      "Jobs of 4 to 16 workers on half-full clusters at %s effort, seeds %llu to %llu. Goal: 99 in "
      "100 within %.0f ms, the slowest within %.0f ms.\n\n"
      "| nodes | kind | instances | ms: median | p90 | p99 | worst | goal met | exact | exact or "
      "at the bound | refused | "
      "cost over reference: sum | worst | worse | better | preferences missed |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
      "--- "
      "|\n",
      EffortName(arguments.effort).c_str(), static_cast<unsigned long long>(arguments.first),
      static_cast<unsigned long long>(arguments.first + arguments.count - 1), kMostP99,
      kMostSlowest);
  for (const std::uint64_t nodes : arguments.nodes) {
    for (const bool irregular : {false, true}) {
      const SmallCluster cluster{static_cast<std::uint32_t>(nodes), irregular};
      Measure(cluster, arguments, reference).Print(cluster);
    }
  }
  return 0;
}
