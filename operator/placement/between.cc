#include "operator/placement/between.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/bound/bound.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/placement/worker_parts.h"
#include "operator/rules/keep_workers.h"
#include "operator/rules/node_filter.h"

namespace weft::placement {

using fabric::NodeIndex;
using objective::Instance;
using objective::Objective;
using objective::Preferences;
using objective::Request;
using rules::WorkerRules;
using Slots = fabric::ByNode<std::uint32_t>;

namespace {

// Solves for one job: jobs of few workers take a fraction of a millisecond each, those of hundreds
// ten milliseconds.
constexpr std::size_t kMostSolves = 256, kFewestSolves = 8;
constexpr std::size_t kSolvesOfOneWorker = 1024;  // shared by the workers
// Nodes over which every solve goes; shared by the nodes of the fabric.
constexpr std::size_t kNodesLooked = 1'000'000;
// Nodes of all parts that are made: of each part all are looked at and sorted. A second or less.
constexpr std::size_t kNodesOfParts = 500'000;
// Domains of an affinity that are looked at by themselves, roomiest first. The others count in the
// bound.
constexpr std::size_t kMostDomains = 64;
// Solves after the first one that make its plan keep the limits.
constexpr int kRepairs = 4;

rules::SlotQuery QueryOf(const PoolsProblem& problem) {
  return {.pod = &problem.request.pod,
          .job = problem.request.job,
          .excluded = problem.request.excluded,
          .cap = problem.request.workers,
          .ignore_claims = problem.options.ignore_claims,
          .ignore_health = problem.options.ignore_health,
          .pools = {problem.pools.begin(), problem.pools.end()}};
}

// The job's slots without rules between the workers, and these rules.
struct Room {
  explicit Room(const PoolsProblem& problem) {
    const rules::SlotQuery query = QueryOf(problem);
    rules::CountSlotsByNode(problem.claims, query, by_node);
    slots = by_node;
    rules = rules::RulesOfWorkers(problem.claims, query, slots);
  }
  Slots by_node;  // of each node by itself
  Slots slots;    // beside pods that run
  WorkerRules rules;
};

// The request without rules about other pods, on these slots: a node without any is excluded. One
// that has fewer than by itself gets a limit, as one that takes so many volumes of a driver.
Request OnSlots(const Request& request, const Slots& by_node, const Slots& slots,
                const fabric::Fabric& fabric) {
  constexpr const char* kDriver = "slots";
  Request some = request;
  some.pod.terms = {};
  rules::VolumeRules volumes;
  volumes.places = request.pod.volumes->places;
  const auto limits = std::make_shared<rules::DriverVolumes>();
  for (const NodeIndex n : slots.Indices()) {
    WEFT_CHECK(slots[n] <= by_node[n]);
    if (slots[n] == by_node[n]) continue;
    if (slots[n] == 0) {
      some.excluded.push_back(n);
    } else {
      limits->limits[fabric.node(n).name] = slots[n];
    }
  }
  if (!limits->limits.empty()) volumes.attached = {{kDriver, {}, 1, limits}};
  some.pod.volumes = volumes;
  std::sort(some.excluded.begin(), some.excluded.end());
  return some;
}

Slots UsedBy(const ByWorker<NodeIndex>& workers, std::size_t nodes) {
  Slots used(nodes, 0);
  for (const NodeIndex n : workers) ++used[n];
  return used;
}

std::vector<NodeIndex> Sorted(std::vector<NodeIndex> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// The values of a part: its best plan's, or what is known of its placements.
struct Searched {
  Preferences preferences{};
  Int128 bound = 0;
  bool exact = false;  // no placement of it has smaller ones
};

std::size_t SolvesFor(const PoolsProblem& problem) {
  if (problem.options.limits.after_normal) return kFewestSolves;  // each takes seconds
  const std::size_t nodes = std::max<std::size_t>(1, problem.claims.fabric().node_count());
  return std::clamp(std::min(kSolvesOfOneWorker / problem.request.workers, kNodesLooked / nodes),
                    kFewestSolves, kMostSolves);
}

class PartSearch {
 public:
  using Solver = std::function<std::optional<Plan>(const Request&)>;

  PartSearch(const PoolsProblem& problem, const Solver& solve)
      : problem_(problem),
        solve_(solve),
        room_(problem),
        pair_cost_(problem.claims.fabric(), problem.request.pod.claims_compute_domain),
        previous_(Sorted(problem.request.previous_nodes.Items())),
        solves_left_(SolvesFor(problem)) {}

  std::optional<Plan> Run() {
    best_ = solve_(problem_.request);
    if (room_.rules.empty() || (best_ && !problem_.options.bound)) return std::move(best_);
    Begin();
    while (!parts_.empty() && solves_left_ > 0 && !(best_ && !problem_.options.bound)) {
      // Of equal ones the newest, which has fewer slots.
      const auto next = std::min_element(parts_.rbegin(), parts_.rend(), [](auto& a, auto& b) {
        return std::tie(a.preferences, a.bound) < std::tie(b.preferences, b.bound);
      });
      Part part = std::move(*next);
      parts_.erase(std::next(next).base());
      Search(std::move(part));
    }
    for (const Part& part : parts_) Leave(part);
    if (best_) Prove();
    return std::move(best_);
  }

 private:
  std::size_t Nodes() const { return problem_.claims.fabric().node_count(); }

  Request On(const Slots& slots) const {
    return OnSlots(problem_.request, room_.by_node, slots, problem_.claims.fabric());
  }

  Int128 BoundOn(const Slots& slots, const Preferences& reached) const {
    if (!problem_.options.bound) return 0;
    const Request request = On(slots);
    const Instance instance(problem_.claims, request, problem_.graph, problem_.options,
                            problem_.pools);
    if (instance.TotalSlots() < instance.workers()) return 0;
    return bound::JobBound(instance, reached).least();
  }

  // Whether levels may be missed, so that no bound is known before a plan.
  bool HasTopology() const {
    const Request& request = problem_.request;
    return request.required || request.preferred || !request.groups.empty();
  }

  // A part for each domain that all workers may share.
  void Begin() {
    const auto sets = rules::SetsTogether(room_.rules, room_.slots, problem_.request.workers);
    const std::size_t some = std::min({sets.size(), kMostDomains, solves_left_});
    for (std::size_t s = 0; s < some; ++s) {
      Part part{rules::SlotsIn(sets[s], room_.slots), {}, {}, 0, true};
      LeaveOutAlike(pair_cost_, room_.rules, previous_, part);
      if (!LimitsLeaveRoom(room_.rules, part, problem_.request.workers)) continue;
      if (sets.size() > 1 && !HasTopology()) part.bound = BoundOn(part.slots, {});
      parts_.push_back(std::move(part));
    }
    std::reverse(parts_.begin(), parts_.end());  // the roomiest is searched first
    unknown_ = some < sets.size();
  }

  // Whether no placement of such values is better than the best one.
  bool IsNoBetter(const Preferences& preferences, Int128 bound) const {
    return best_ && Objective{preferences, bound} >= best_->candidate().objective();
  }

  // A part that is not searched further.
  void Leave(const Part& part) { left_.push_back({part.preferences, part.bound, part.proven}); }

  void Search(Part part) {
    if (IsNoBetter(part.preferences, part.bound)) {
      Leave(part);
      return;
    }
    --solves_left_;
    std::optional<Plan> plan = solve_(On(part.slots));
    if (!plan) {  // the part has no placement, or none was found
      unknown_ = unknown_ || HasTopology();
      return;
    }
    part.preferences = plan->preferences;
    part.bound = std::max(part.bound, plan->lower_bound);
    part.proven = plan->exact;
    const Slots used = UsedBy(plan->nodes, Nodes());
    if (Holds(part, used)) {
      done_.push_back({plan->preferences, plan->lower_bound, plan->exact});
      Take(*std::move(plan));
    } else if (IsNoBetter(part.preferences, part.bound)) {
      Leave(part);
    } else {
      if (!repaired_.contains(part.shares.size())) Repair(part, *std::move(plan));
      Divide(part, used);
    }
  }

  bool Holds(const Part& part, const Slots& used) const {
    return rules::HoldAll(room_.rules, used) &&
           std::all_of(part.shares.begin(), part.shares.end(), [&](const auto& share) {
             const auto workers = rules::CountIn(share.of_node, share.most.size(), used);
             return std::equal(workers.begin(), workers.end(), share.most.begin(),
                               [](std::uint64_t has, std::uint64_t most) { return has <= most; });
           });
  }

  void Divide(const Part& part, const Slots& used) {
    Division division = placement::Divide(room_.rules, part, used, problem_.request.workers);
    const std::size_t most = nodes_left_ / std::max<std::size_t>(1, Nodes());
    if (!division.all || division.parts.size() > most) Leave(part);
    while (division.parts.size() > most) division.parts.pop_back();
    nodes_left_ -= division.parts.size() * Nodes();
    for (Part& smaller : division.parts) {
      LeaveOutAlike(pair_cost_, room_.rules, previous_, smaller);
      if (!LimitsLeaveRoom(room_.rules, smaller, problem_.request.workers)) continue;
      std::vector<std::uint64_t> shares;
      for (const auto& share : smaller.shares) {
        shares.insert(shares.end(), share.most.begin(), share.most.end());
      }
      if (!seen_.insert({std::move(shares), smaller.slots}).second) continue;
      parts_.push_back(std::move(smaller));
    }
  }

  // A first plan that keeps the limits: of each domain with too many workers, some of the nodes
  // that are used.
  void Repair(Part part, Plan plan) {
    repaired_.insert(part.shares.size());
    for (int repair = 0; repair < kRepairs && solves_left_ > 0; ++repair) {
      Part kept = KeepUsed(room_.rules, part, UsedBy(plan.nodes, Nodes()));
      if (kept.slots == part.slots) return;  // it breaks a spread
      part = std::move(kept);
      --solves_left_;
      std::optional<Plan> next = solve_(On(part.slots));
      if (!next) return;
      plan = *std::move(next);
      if (!Holds(part, UsedBy(plan.nodes, Nodes()))) continue;
      Take(std::move(plan));
      return;
    }
  }

  // A plan of slots without the rules may have a runner-up that breaks them.
  void NameRunnerUp(Plan& plan) const {
    if (plan.runner_up && !rules::HoldAll(room_.rules, UsedBy(plan.runner_up->nodes, Nodes()))) {
      plan.runner_up.reset();
    }
    if (plan.runner_up || !best_) return;
    const Slots own = UsedBy(plan.nodes, Nodes()), other = UsedBy(best_->nodes, Nodes());
    const bool same = std::equal(own.begin(), own.end(), other.begin(),
                                 [](auto a, auto b) { return (a > 0) == (b > 0); });
    if (!same) plan.runner_up = best_->candidate();
  }

  std::size_t Moved(const Plan& plan) const {
    return static_cast<std::size_t>(std::count_if(
        plan.nodes.begin(), plan.nodes.end(),
        [&](NodeIndex n) { return !std::binary_search(previous_.begin(), previous_.end(), n); }));
  }

  // On a restart, costs within the tolerance count as equal.
  void Take(Plan plan) {
    NameRunnerUp(plan);
    if (best_ && !previous_.empty() && plan.preferences == best_->preferences) {
      const int tolerance = problem_.options.cost_tolerance_percent.value_or(
          problem_.claims.fabric().spec().cost_tolerance_percent);
      const bool as_good = plan.cost <= objective::CostLimit(best_->cost, tolerance) &&
                           best_->cost <= objective::CostLimit(plan.cost, tolerance);
      if (as_good && Moved(plan) != Moved(*best_)) {
        if (Moved(plan) < Moved(*best_)) best_ = std::move(plan);
        return;
      }
    }
    if (!IsNoBetter(plan.preferences, plan.cost)) best_ = std::move(plan);
  }

  // What all parts together prove of the best plan.
  void Prove() {
    if (!problem_.options.bound) return;
    Int128 least = best_->cost;
    bool exact = !unknown_, all = unknown_;
    const auto add = [&](const Searched& part, bool shown) {
      if (part.preferences == best_->preferences) {
        // No placement misses fewer preferences than none.
        const bool none_better = part.preferences == Preferences{} && part.bound >= best_->cost;
        exact = exact && (shown || none_better);
        least = std::min(least, part.bound);
      } else if (part.preferences < best_->preferences || !part.exact) {
        exact = false;
        all = true;
      }
    };
    for (const Searched& part : done_) add(part, part.exact);
    for (const Searched& part : left_) add(part, part.exact && part.bound >= best_->cost);
    if (all) least = std::min(least, BoundOn(room_.slots, best_->preferences));
    best_->exact = exact;
    best_->lower_bound = least;
  }

  const PoolsProblem& problem_;
  const Solver& solve_;
  Room room_;
  objective::PairCost pair_cost_;
  std::vector<NodeIndex> previous_;
  std::size_t solves_left_, nodes_left_ = kNodesOfParts;
  std::optional<Plan> best_;
  std::vector<Part> parts_;            // not yet searched
  std::vector<Searched> done_, left_;  // whose best plan keeps the rules; all others
  bool unknown_ = false;               // some placements are in none of these
  std::set<std::pair<std::vector<std::uint64_t>, Slots>> seen_;  // by shares and slots
  std::set<std::size_t> repaired_;  // numbers of spreads that are divided
};

}  // namespace

bool MayHaveWorkerRules(const Request& request) {
  const fabric::PodTerms& terms = *request.pod.terms;
  const std::vector<rules::VolumeRules::Unbound>& claims = request.pod.volumes->unbound;
  return request.workers > 1 &&
         (!terms.affinity.empty() || !terms.anti_affinity.empty() || !terms.spread.empty() ||
          std::any_of(claims.begin(), claims.end(), [](const auto& one) { return one.shared; }));
}

Request WithoutWorkerRules(const PoolsProblem& problem) {
  const Room room(problem);
  return OnSlots(problem.request, room.by_node, room.slots, problem.claims.fabric());
}

bool KeepsWorkerRules(const PoolsProblem& problem, const ByWorker<NodeIndex>& nodes) {
  if (!MayHaveWorkerRules(problem.request)) return true;
  const Room room(problem);
  return rules::HoldAll(room.rules, UsedBy(nodes, room.slots.size()));
}

std::optional<Plan> SolveBetween(const PoolsProblem& problem,
                                 const std::function<std::optional<Plan>(const Request&)>& solve) {
  return PartSearch(problem, solve).Run();
}

}  // namespace weft::placement
