#include "operator/placement/place.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/bound/bound.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/levels.h"
#include "operator/objective/node_set.h"
#include "operator/placement/between.h"
#include "operator/placement/pool_sets.h"
#include "operator/placement/previous.h"
#include "operator/placement/refuse.h"
#include "operator/placement/wanted.h"
#include "operator/search/anneal.h"
#include "operator/search/even_parts.h"
#include "operator/search/exact.h"
#include "operator/search/improve.h"
#include "operator/search/refine.h"
#include "operator/search/ring.h"
#include "operator/search/search.h"

namespace weft::placement {

using fabric::NodeIndex;
using objective::Candidate;
using objective::Instance;
using objective::kWorkersMoved;
using objective::Options;
using objective::Preferences;
using objective::Request;
using search::Standing;

namespace {

// How many candidates get the local search.
constexpr std::size_t kImproved = 3;
// Jobs up to this size also get the local search by single workers with random kicks.
constexpr std::uint32_t kSmallEnough = 32;
// On a torus, jobs up to this size get both local searches: either finds the better placement now
// and then, and both are quick.
constexpr std::uint32_t kFewAnnealed = 128;
// Sorts by preferences, then cost; stable.
void BestFirst(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
}

std::optional<Candidate> RunnerUp(const Instance& instance, const std::vector<Candidate>& sorted,
                                  const Candidate& chosen) {
  const objective::NodeSet used(instance.slots().size(), chosen.nodes);
  for (const Candidate& other : sorted) {
    if (objective::NodeSet(instance.slots().size(), other.nodes) == used) continue;
    return other;
  }
  return std::nullopt;
}

// A cost so close to the bound that further search is not worth it: what a user could not measure,
// or a quarter of what the Fabric counts as equal.
Int128 Enough(const Options& options, int tolerance_percent, Int128 bound) {
  constexpr int kPartOfTolerance = 4;
  const Int128 of_tolerance =
      options.limits.after_normal ? 0 : bound / (100 * kPartOfTolerance) * tolerance_percent;
  return bound + std::max(bound >> options.limits.enough_shift, of_tolerance);
}

// Runs the local search from the best few starts.
void ImproveBest(const Instance& instance, const Options& options, Int128 bound,
                 std::vector<Candidate>& candidates) {
  const bool small = instance.workers() <= kFewAnnealed;
  if (small) search::RefineBest(instance, options.limits, bound, candidates);
  const bool annealed = search::AnnealBest(instance, bound, candidates);
  search::ShortenRings(instance, bound, candidates);
  if (!annealed && !small) search::RefineBest(instance, options.limits, bound, candidates);
  if (instance.workers() > kSmallEnough || candidates.empty()) return;
  const std::size_t starts = std::min(kImproved, candidates.size());
  for (std::size_t i = 0; i < starts; ++i) {
    if (auto better =
            search::Improve(instance, candidates[i], options.limits.improve_steps, bound)) {
      candidates.push_back(std::move(*better));
    }
  }
  BestFirst(candidates);
}

void AddEvenParts(const Instance& instance, int tolerance, std::vector<Candidate>& candidates) {
  if (!instance.request().ring || candidates.empty()) return;
  const std::size_t best = objective::Best(instance, candidates, tolerance);
  if (auto even = search::EvenParts(instance, candidates[best]))
    candidates.push_back(*std::move(even));
}

Plan MakePlan(const Instance& instance, std::vector<Candidate>& candidates,
              const Candidate& chosen) {
  BestFirst(candidates);
  Plan plan;
  plan.nodes = chosen.nodes;
  plan.preferences = chosen.preferences;
  plan.cost = chosen.cost;
  plan.runner_up = RunnerUp(instance, candidates, chosen);
  return plan;
}

int TolerancePercent(const fabric::Fabric& fabric, const Options& options) {
  return options.cost_tolerance_percent.value_or(fabric.spec().cost_tolerance_percent);
}

// The bound at the preferences asked for last.
class BoundAt {
 public:
  BoundAt(const Instance& instance, const Options& options)
      : instance_(instance), wanted_(options.bound) {}

  Int128 Of(const Preferences& reached) {
    if (!wanted_) return 0;
    if (!bound_ || reached_ != reached) bound_.emplace(instance_, reached);
    reached_ = reached;
    return bound_->least();
  }
  Int128 Raise(const Preferences& reached, Int128 cost) {
    const Int128 least = Of(reached);
    return bound_ ? bound_->Raise(cost) : least;
  }

 private:
  const Instance& instance_;
  bool wanted_;
  std::optional<bound::JobBound> bound_;
  Preferences reached_{};
};

// `known`: a placement that is a candidate from the beginning.
std::optional<Plan> SolveOn(const Instance& instance, const Options& options,
                            const std::optional<Candidate>& known) {
  if (instance.TotalSlots() < instance.workers()) return std::nullopt;
  const int tolerance = TolerancePercent(instance.fabric(), options);
  BoundAt bound(instance, options);
  std::vector<Candidate> candidates =
      search::GreedyCandidates(instance, [&](const Candidate& found) {
        if (!options.bound || found.preferences != Preferences{}) return Standing::kNear;
        const Int128 enough = Enough(options, tolerance, bound.Of(Preferences{}));
        if (found.cost <= enough) return Standing::kEnough;
        return objective::IsFar(found.cost, enough) ? Standing::kFar : Standing::kNear;
      });
  if (known) candidates.push_back(*known);
  BestFirst(candidates);
  const Int128 least = candidates.empty() ? 0 : bound.Of(candidates.front().preferences);
  const Int128 enough = Enough(options, tolerance, least);
  search::ExactResult exact;
  if (instance.workers() <= search::kMostExactWorkers) {
    AddPrevious(instance, options, enough, candidates);
    exact = search::SearchExactly(instance, candidates, least, tolerance,
                                  {options.limits.exact_steps, options.limits.exact_tie_steps});
    if (exact.best) candidates.insert(candidates.begin(), *exact.best);
  }
  if (!exact.finished) {
    BestFirst(candidates);
    ImproveBest(instance, options, enough, candidates);
    AddPrevious(instance, options, enough, candidates);
    AddEvenParts(instance, tolerance, candidates);
  }
  if (candidates.empty()) return std::nullopt;

  // An exact result is within the tolerance of the least cost there is, which need not be that of a
  // candidate.
  const Candidate chosen =
      exact.finished ? *exact.best : candidates[objective::Best(instance, candidates, tolerance)];
  Plan plan = MakePlan(instance, candidates, chosen);
  plan.exact = exact.finished;
  plan.lower_bound = exact.finished ? exact.least.cost : bound.Of(plan.preferences);
  if (!exact.finished && plan.cost > Enough(options, tolerance, plan.lower_bound)) {
    plan.lower_bound = bound.Raise(plan.preferences, plan.cost);
  }
  WEFT_CHECK(plan.lower_bound <= plan.cost);
  WEFT_CHECK(plan.nodes.size() == instance.workers());
  WEFT_CHECK(objective::MeetsHardRules(instance, plan.nodes));  // whichever search found it
  return plan;
}

// What normal effort finds, if the search is to begin with it.
std::optional<Candidate> AtNormalEffort(const fabric::Claims& claims, const Request& request,
                                        const traffic::WorkerGraph& graph, const Options& options,
                                        std::span<const fabric::PoolIndex> pools) {
  if (!options.limits.after_normal) return std::nullopt;
  Options normal = options;
  normal.limits = objective::LimitsOf(objective::Effort::kNormal);
  normal.cost_tolerance_percent = 0;
  const Instance instance(claims, request, graph, normal, pools);
  const std::optional<Plan> plan = SolveOn(instance, normal, std::nullopt);
  return plan ? std::optional(plan->candidate()) : std::nullopt;
}

// The best plan on these pools, whose instance the caller has.
std::optional<Plan> SolveOnPools(const PoolsProblem& on, const Instance& instance) {
  const auto known = [&](const Request& request) {
    return AtNormalEffort(on.claims, request, on.graph, on.options, on.pools);
  };
  if (!MayHaveWorkerRules(on.request)) return SolveOn(instance, on.options, known(on.request));
  return SolveBetween(on, [&](const Request& some) {
    return SolveOn(Instance(on.claims, some, on.graph, on.options, on.pools), on.options,
                   known(some));
  });
}

// The best plan of the first rank of choices that has a plan: by preferences and cost, then by the
// levels after the cost, then by order of choices. On a restart, costs within the tolerance count
// as equal, so that a gang does not leave its nodes for another product that is hardly cheaper.
class ChoiceSolver {
 public:
  ChoiceSolver(const fabric::Claims& claims, const Request& request,
               const traffic::WorkerGraph& graph, const Options& options)
      : claims_(claims), request_(request), graph_(graph), options_(options) {}

  std::optional<Plan> Run() {
    const std::vector<objective::PoolChoice>& choices = *request_.pool_choices;
    if (choices.size() == 1 && !choices.front().one_pool) {
      Try(0, choices.front().pools);
      return std::move(best_);
    }
    const RoomByPool room = CountRoom(claims_, request_, options_);
    std::vector<PoolRoom> rooms = RoomsOf(request_, room);
    WEFT_CHECK(rooms.size() == choices.size());
    for (std::size_t c = 0; c < choices.size(); ++c) {
      if (best_ && choices[c].rank > choices[best_->choice].rank) break;
      if (rooms[c].workers < request_.workers) continue;
      const PoolSets tried = PoolSetsOf(claims_.fabric(), request_, choices[c], room);
      for (const auto& pools : tried.sets) rooms[c].solved = Try(c, pools) || rooms[c].solved;
      if (!tried.all && best_ && best_->choice == c) BoundOverAll(choices[c].pools);
    }
    if (best_ && choices.size() > 1) best_->choices = std::move(rooms);
    return std::move(best_);
  }

 private:
  // Not all of these pools were tried: the bound must hold for the others too.
  void BoundOverAll(const std::vector<fabric::PoolIndex>& pools) {
    const Request request = MayHaveWorkerRules(request_)
                                ? WithoutWorkerRules({claims_, request_, graph_, options_, pools})
                                : request_;
    const Instance all(claims_, request, graph_, options_, pools);
    const Int128 least = BoundAt(all, options_).Of(best_->preferences);
    best_->lower_bound = std::min(best_->lower_bound, least);
    best_->exact = best_->exact && best_->lower_bound == best_->cost;
  }

  bool Try(std::size_t choice, const std::vector<fabric::PoolIndex>& pools) {
    const Instance instance(claims_, request_, graph_, options_, pools);
    std::optional<Plan> plan = SolveOnPools({claims_, request_, graph_, options_, pools}, instance);
    if (!plan) return false;
    objective::TieBreakers ties = objective::BreakTies(instance, plan->nodes);
    const objective::Objective objective = plan->candidate().objective();
    if (best_ && !Better(objective, ties)) return true;
    plan->pools = pools;
    plan->choice = choice;
    best_ = std::move(plan);
    objective_ = objective;
    ties_ = std::move(ties);
    return true;
  }

  bool Better(const objective::Objective& objective, const objective::TieBreakers& ties) const {
    if (!request_.previous_nodes.empty() && objective.preferences == objective_.preferences) {
      const int tolerance = TolerancePercent(claims_.fabric(), options_);
      if (objective.cost > objective::CostLimit(objective_.cost, tolerance)) return false;
      if (objective_.cost > objective::CostLimit(objective.cost, tolerance)) return true;
      if (ties[kWorkersMoved] != ties_[kWorkersMoved]) {
        return ties[kWorkersMoved] < ties_[kWorkersMoved];
      }
    }
    return std::tie(objective, ties) < std::tie(objective_, ties_);
  }

  const fabric::Claims& claims_;
  const Request& request_;
  const traffic::WorkerGraph& graph_;
  const Options& options_;
  std::optional<Plan> best_;
  objective::Objective objective_;
  objective::TieBreakers ties_;
};

// By the levels of the objective, without the wishes for single nodes.
std::optional<Plan> SolveByLevels(const fabric::Claims& claims, const Request& request,
                                  const traffic::WorkerGraph& graph, const Options& options) {
  if (request.pool_choices) return ChoiceSolver(claims, request, graph, options).Run();
  return SolveOnPools({claims, request, graph, options, {}},
                      Instance(claims, request, graph, options));
}

}  // namespace

std::optional<Plan> Solve(const fabric::Claims& claims, const Request& request,
                          const traffic::WorkerGraph& graph, const Options& options) {
  std::optional<Plan> plan = SolveByLevels(claims, request, graph, options);
  if (!plan) return plan;
  return OnWantedNodes(
      claims, request, graph, options, *std::move(plan),
      [&](const Request& fewer) { return SolveByLevels(claims, fewer, graph, options); });
}

Placement Place(const fabric::Claims& claims, const Request& request,
                const traffic::WorkerGraph& graph, const Options& options) {
  if (auto plan = Solve(claims, request, graph, options)) return *std::move(plan);
  return Refuse(claims, request, graph, options);
}

}  // namespace weft::placement
