#include "operator/placement/wanted.h"

#include <algorithm>
#include <set>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/placement/between.h"
#include "operator/placement/move_to_wanted.h"
#include "operator/placement/wanted_sets.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/unwanted.h"

namespace weft::placement {

using fabric::ByNode;
using fabric::NodeIndex;
using objective::CostLimit;
using objective::Instance;
using objective::Options;
using objective::Request;

namespace {

// Solves beyond the halving. Large jobs get fewer, because each takes longer: solves times workers
// stay below the limit, but at least kFewestSolves are made. Thorough effort, whose solves take
// seconds, makes only these.
constexpr std::size_t kMostSolves = 16, kFewestSolves = 4, kSolvesTimesWorkers = 4'096;

// The request without the nodes that `leave_out` names.
template <typename Leaves>
Request Without(Request request, const ByNode<std::uint32_t>& unwanted, Leaves leave_out) {
  for (const NodeIndex n : unwanted.Indices()) {
    if (leave_out(n)) request.excluded.push_back(n);
  }
  std::sort(request.excluded.begin(), request.excluded.end());
  request.excluded.erase(std::unique(request.excluded.begin(), request.excluded.end()),
                         request.excluded.end());
  return request;
}

// The best of the plans that are offered: as good as the first, and with the least sum.
class Offers {
 public:
  Offers(const PoolsProblem& problem, const ByNode<std::uint32_t>& unwanted, const Plan& plan)
      : problem_(problem),
        request_(problem.request),
        unwanted_(unwanted),
        tolerance_percent_(problem.options.cost_tolerance_percent.value_or(
            problem.claims.fabric().spec().cost_tolerance_percent)),
        best_(plan),
        sum_(SumUnwanted(unwanted, plan.nodes)),
        least_cost_(plan.exact ? plan.lower_bound : plan.cost) {}

  const Plan& best() const { return best_; }
  std::int64_t sum() const { return sum_; }
  Int128 most_cost() const { return CostLimit(least_cost_, tolerance_percent_); }

  bool IsAsGood(const Plan& plan) const {
    if (plan.preferences != best_.preferences || plan.cost > most_cost()) return false;
    if (request_.pool_choices && RankOf(plan) != RankOf(best_)) return false;
    // It was solved without some nodes, whose domains a spread counts.
    PoolsProblem on = problem_;
    on.pools = plan.pools;
    return KeepsWorkerRules(on, plan.nodes);
  }
  // Whether it is the best now.
  bool Offer(const Plan& plan) {
    if (!IsAsGood(plan)) return false;
    least_cost_ = std::min(least_cost_, plan.cost);
    const std::int64_t sum = SumUnwanted(unwanted_, plan.nodes);
    if (sum >= sum_ && best_.cost <= most_cost()) return false;
    best_ = plan;
    sum_ = sum;
    return true;
  }

 private:
  std::uint32_t RankOf(const Plan& plan) const {
    return (*request_.pool_choices)[plan.choice].rank;
  }

  const PoolsProblem& problem_;
  const Request& request_;
  const ByNode<std::uint32_t>& unwanted_;
  int tolerance_percent_;
  Plan best_;
  std::int64_t sum_;
  Int128 least_cost_;  // of all plans that are known
};

class WantedSearch {
 public:
  using Solve = std::function<std::optional<Plan>(const Request&)>;

  WantedSearch(const Request& request, const ByNode<std::uint32_t>& unwanted, Offers& offers,
               const Solve& solve)
      : request_(request), unwanted_(unwanted), offers_(offers), solve_(solve) {}

  // Finds a plan whose least wanted node is wanted most.
  void Halve() {
    std::uint32_t worst = 0;
    for (const NodeIndex n : offers_.best().nodes) worst = std::max(worst, unwanted_[n]);
    std::vector<std::uint32_t> values;
    for (const std::uint32_t value : unwanted_) {
      if (value < worst) values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (std::size_t low = 0, high = values.size(); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      const auto found = solve_(
          Without(request_, unwanted_, [&](NodeIndex n) { return unwanted_[n] > values[middle]; }));
      if (found && offers_.IsAsGood(*found)) {
        offers_.Offer(*found);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
  }

  // Lowers the sum step by step until it is the least that these slots allow, no step helps or the
  // solves are used up.
  void Lower(const Instance& all) {
    const Wants wants(all.fabric(), unwanted_, all.slots());
    const NodeChoice least = MostWanted(
        wants, [](NodeIndex) { return true; }, all.workers());
    solves_left_ = all.limits().after_normal ? kFewestSolves
                                             : std::clamp(kSolvesTimesWorkers / all.workers(),
                                                          kFewestSolves, kMostSolves);
    bool lower = true;
    while (lower && offers_.sum() > least.sum) {
      // Moves know the slots, but not the rules between the workers.
      lower = !MayHaveWorkerRules(request_) && MoveWorkers(all);
      lower = (offers_.sum() > least.sum && SolveOnBetterSets(wants)) || lower;
    }
  }

 private:
  bool MoveWorkers(const Instance& all) {
    Plan moved = offers_.best();
    objective::Candidate found = objective::Evaluate(
        all, MoveToWanted(all, unwanted_, moved.candidate(), offers_.most_cost()));
    if (found.nodes == moved.nodes) return false;
    WEFT_CHECK(objective::MeetsHardRules(all, found.nodes));
    // A runner-up must be worse for a reason that a person can be told.
    if (moved.runner_up && moved.runner_up->preferences == found.preferences &&
        moved.runner_up->cost <= found.cost) {
      moved.runner_up.reset();
    }
    moved.nodes = std::move(found.nodes);
    moved.preferences = found.preferences;
    moved.cost = found.cost;
    return offers_.Offer(moved);
  }

  // Ends with the first set that helps: other sets are better from there.
  bool SolveOnBetterSets(const Wants& wants) {
    for (const NodeChoice& set : BetterSets(wants, offers_.best().nodes)) {
      if (solves_left_ == 0) return false;
      if (!tried_.insert(set.nodes).second) continue;
      --solves_left_;
      const auto found = solve_(Without(request_, unwanted_, [&](NodeIndex n) {
        return !std::binary_search(set.nodes.begin(), set.nodes.end(), n);
      }));
      if (found && offers_.Offer(*found)) return true;
    }
    return false;
  }

  const Request& request_;
  const ByNode<std::uint32_t>& unwanted_;
  Offers& offers_;
  const Solve& solve_;
  std::size_t solves_left_ = 0;
  std::set<std::vector<NodeIndex>> tried_;
};

}  // namespace

Plan OnWantedNodes(const fabric::Claims& claims, const Request& request,
                   const traffic::WorkerGraph& graph, const Options& options, Plan plan,
                   const std::function<std::optional<Plan>(const Request&)>& solve) {
  const rules::SlotQuery query = {.pod = &request.pod,
                                  .job = request.job,
                                  .excluded = {},
                                  .cap = request.workers,
                                  .ignore_claims = options.ignore_claims};
  const ByNode<std::uint32_t> unwanted = rules::Unwanted(claims, query);
  if (unwanted.empty()) return plan;
  const auto least = *std::min_element(unwanted.begin(), unwanted.end());
  if (std::all_of(plan.nodes.begin(), plan.nodes.end(),
                  [&](NodeIndex n) { return unwanted[n] == least; })) {
    return plan;
  }
  const PoolsProblem problem{claims, request, graph, options, {}};
  Offers offers(problem, unwanted, plan);
  WantedSearch search(request, unwanted, offers, solve);
  search.Halve();
  search.Lower(Instance(claims, request, graph, options, offers.best().pools));
  Plan best = offers.best();
  best.exact = plan.exact;  // of all nodes, as is the bound
  best.lower_bound = plan.lower_bound;
  best.choices = std::move(plan.choices);
  return best;
}

}  // namespace weft::placement
