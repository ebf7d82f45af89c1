#include "operator/placement/place.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/placement/bound.h"
#include "operator/placement/exact.h"
#include "operator/placement/improve.h"
#include "operator/placement/node_set.h"
#include "operator/placement/refine.h"
#include "operator/placement/refuse.h"
#include "operator/placement/search.h"

namespace weft::placement {

using fabric::NodeIndex;

namespace {

// Candidates that get the local search.
constexpr std::size_t kImproved = 3;
// Jobs up to this size also get the local search by single workers with random kicks.
constexpr std::uint32_t kSmallEnough = 32;
// Above this size an exhaustive search seldom ends within the limit: it gets a tenth of it.
constexpr std::uint32_t kSmallJob = 10;
constexpr std::uint32_t kLessOfLarger = 10;

// Sorts by preferences, then cost; stable.
void BestFirst(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
}

std::optional<Candidate> RunnerUp(const Instance& instance, const std::vector<Candidate>& sorted,
                                  std::size_t best) {
  const NodeSet used(instance.slots().size(), sorted[best].nodes);
  for (const Candidate& other : sorted) {
    if (NodeSet(instance.slots().size(), other.nodes) == used) continue;
    return other;
  }
  return std::nullopt;
}

// A cost so close to the bound that no search can tell.
Int128 Enough(Int128 bound) { return bound + (bound >> 20); }

// Local search from the best few starts.
void ImproveBest(const Instance& instance, const Options& options, Int128 bound,
                 std::vector<Candidate>& candidates) {
  RefineBest(instance, options.limits, bound, candidates);
  if (instance.workers() > kSmallEnough || candidates.empty()) return;
  const std::size_t starts = std::min(kImproved, candidates.size());
  for (std::size_t i = 0; i < starts; ++i) {
    if (auto better = Improve(instance, candidates[i], options.limits.improve_steps, bound)) {
      candidates.push_back(std::move(*better));
    }
  }
  BestFirst(candidates);
}

Plan MakePlan(const Instance& instance, std::vector<Candidate>& candidates, int tolerance) {
  BestFirst(candidates);
  const std::size_t best = Best(instance, candidates, tolerance);
  const Candidate& chosen = candidates[best];
  Plan plan;
  plan.nodes = chosen.nodes;
  plan.preferences = chosen.preferences;
  plan.cost = chosen.cost;
  plan.runner_up = RunnerUp(instance, candidates, best);
  return plan;
}

}  // namespace

Placement Place(const fabric::Claims& claims, const Request& request,
                const traffic::WorkerGraph& graph, const Options& options) {
  const Instance instance(claims, request, graph, options);
  if (instance.TotalSlots() < instance.workers()) return Refuse(instance, options);

  const int tolerance =
      options.cost_tolerance_percent.value_or(claims.fabric().spec().cost_tolerance_percent);
  std::vector<Candidate> candidates = GreedyCandidates(instance);
  BestFirst(candidates);
  const Preferences preferences =
      candidates.empty() ? Preferences{} : candidates.front().preferences;
  Int128 bound = candidates.empty() ? 0 : LowerBound(instance, preferences);
  ImproveBest(instance, options, Enough(bound), candidates);
  const std::uint32_t steps = instance.workers() <= kSmallJob
                                  ? options.limits.exact_steps
                                  : options.limits.exact_steps / kLessOfLarger;
  const ExactResult exact = SearchExactly(instance, candidates, tolerance, steps);
  if (exact.best) candidates.insert(candidates.begin(), *exact.best);
  if (candidates.empty()) return Refuse(instance, options);

  Plan plan = MakePlan(instance, candidates, tolerance);
  plan.exact = exact.finished;
  if (plan.preferences != preferences) bound = LowerBound(instance, plan.preferences);
  plan.lower_bound = exact.finished ? exact.least.cost : bound;
  WEFT_CHECK(bound <= (exact.finished ? exact.least.cost : plan.cost));
  return plan;
}

}  // namespace weft::placement
