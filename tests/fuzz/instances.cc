// Random placement problems of every kind (tests/support/any_instance.h) through the solver: no
// crash, no placement against the rules, no cost below its bound, the same answer twice.
//
//   instances [--first SEED] [--count N] [--seconds N] [--effort quick|normal|thorough]
//             [--workers N]
//
// Ends at the first broken promise with the seed, which replays it: --first SEED --count 1. A crash
// prints its seed too. Ends with 0 and the number of instances if there is none.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "operator/bound/bound.h"
#include "operator/objective/hard_rules.h"
#include "operator/placement/place.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/power.h"
#include "tests/support/any_instance.h"

namespace weft {
namespace {

using fabric::NodeIndex;
using fabric::Tier;
using placement::Plan;
using testing::RandomInstance;

struct Arguments {
  std::uint64_t first = 1, count = ~0ULL;
  std::time_t seconds = 10;
  objective::Effort effort = objective::Effort::kNormal;
  testing::AnyOptions any;
};

volatile std::sig_atomic_t seed_high = 0, seed_low = 0;  // of the instance being solved

extern "C" void TellSeed(int number) {
  std::fprintf(
      stderr, "instances: signal %d with seed %llu\n", number,
      static_cast<unsigned long long>(seed_high) << 31 | static_cast<unsigned long long>(seed_low));
  std::_Exit(128 + number);
}

bool Together(const fabric::Fabric& fabric, Tier tier, objective::Nodes nodes,
              std::span<const WorkerIndex> workers) {
  const auto& of = fabric.domains(tier).of_node;
  return std::all_of(workers.begin(), workers.end(),
                     [&](WorkerIndex w) { return of[nodes[w]] == of[nodes[workers.front()]]; });
}

bool ExceedsPower(const RandomInstance& instance, const Plan& plan) {
  const fabric::Fabric& fabric = *instance.fabric;
  for (Tier t{1}; t < fabric.node_tier(); ++t) {
    const auto& limit = fabric.tiers()[t].power_watts;
    for (fabric::DomainIndex d{0}; limit && d < fabric.domains(t).EndIndex(); ++d) {
      double watts = 0;
      for (const NodeIndex n : plan.nodes) {
        if (fabric.domains(t).of_node[n] != d) continue;
        watts += rules::WorkerPeakWatts(fabric, instance.request.pod, n);
      }
      const double others = rules::PeakWattsIn(*instance.claims, t, d);
      if (watts > 0 && watts + others > static_cast<double>(*limit)) return true;
    }
  }
  return false;
}

// Nothing, or which promise the plan breaks. Rules are written a second time here.
const char* BrokenPromise(const RandomInstance& instance, const Plan& plan) {
  const objective::Request& request = instance.request;
  const fabric::Fabric& fabric = *instance.fabric;
  if (plan.nodes.size() != request.workers) return "a worker without a node";
  fabric::ByNode<std::uint32_t> slots, load(fabric.node_count(), 0);
  rules::CountSlotsByNode(*instance.claims,
                          {.pod = &request.pod,
                           .job = request.job,
                           .excluded = request.excluded,
                           .cap = request.workers,
                           .pools = plan.pools},
                          slots);
  for (const NodeIndex n : plan.nodes) {
    if (n >= load.EndIndex()) return "an unknown node";
    if (++load[n] > slots[n]) return "more workers on a node than it takes";
  }
  if (ExceedsPower(instance, plan)) return "the power of a domain";
  std::vector<WorkerIndex> all;
  for (const WorkerIndex w : plan.nodes.Indices()) all.push_back(w);
  if (request.required && !Together(fabric, *request.required, plan.nodes, all)) {
    return "topology.required";
  }
  for (const objective::GroupConstraint& group : request.groups) {
    if (!group.required) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      if (!Together(fabric, *group.required, plan.nodes, group.sets.set(s))) {
        return "the required level of a group";
      }
    }
  }
  const objective::PairCost pair_cost(fabric, false);
  if (objective::Cost(pair_cost, *instance.graph, plan.nodes) != plan.cost) return "a wrong cost";
  if (plan.lower_bound > plan.cost) return "a bound above the cost";
  const objective::Instance prepared(*instance.claims, request, *instance.graph, {}, plan.pools);
  if (!objective::MeetsHardRules(prepared, plan.nodes)) return "rooms that the bound counts";
  if (bound::RaisedBound(prepared, plan.preferences, plan.cost) > plan.cost) {
    return "a raised bound above the cost";
  }
  return nullptr;
}

const char* BrokenBy(std::uint64_t seed, const Arguments& arguments, std::uint64_t& placed) {
  const RandomInstance instance = testing::MakeAnyInstance(seed, arguments.any);
  objective::Options options;
  options.limits = objective::LimitsOf(arguments.effort);
  if (seed % 2 == 0) options.cost_tolerance_percent = 0;
  const auto solve = [&] {
    return placement::Place(*instance.claims, instance.request, *instance.graph, options);
  };
  const placement::Placement placement = solve();
  const Plan* plan = std::get_if<Plan>(&placement);
  if (plan == nullptr) return nullptr;
  ++placed;
  if (seed % 16 == 0) {
    const placement::Placement again = solve();
    const Plan* twin = std::get_if<Plan>(&again);
    if (twin == nullptr || twin->nodes != plan->nodes) return "another answer to the same question";
  }
  return BrokenPromise(instance, *plan);
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
      arguments.seconds = 0;
    } else if (name == "--seconds") {
      arguments.seconds = static_cast<std::time_t>(value);
    } else if (name == "--workers") {
      arguments.any.most_workers = static_cast<std::uint32_t>(value);
    } else if (name == "--effort" && objective::FindEffort(argv[i + 1])) {
      arguments.effort = *objective::FindEffort(argv[i + 1]);
    } else {
      std::fprintf(stderr, "instances: unknown option %s %s\n", argv[i], argv[i + 1]);
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
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(number, TellSeed);
  const std::time_t end = std::time(nullptr) + arguments.seconds;
  std::uint64_t done = 0, placed = 0;
  for (; done < arguments.count && (arguments.seconds == 0 || std::time(nullptr) < end); ++done) {
    const std::uint64_t seed = arguments.first + done;
    seed_high = static_cast<std::sig_atomic_t>(seed >> 31);
    seed_low = static_cast<std::sig_atomic_t>(seed & 0x7fffffff);
    if (const char* broken = BrokenBy(seed, arguments, placed)) {
      std::fprintf(stderr, "instances: seed %llu: %s\n", static_cast<unsigned long long>(seed),
                   broken);
      return 1;
    }
  }
  std::printf("%llu instances from seed %llu on, %llu placed, no promise broken\n",
              static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(arguments.first),
              static_cast<unsigned long long>(placed));
  return placed == 0 ? 1 : 0;
}
