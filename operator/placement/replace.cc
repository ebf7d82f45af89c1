#include "operator/placement/replace.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/rules/between_pods.h"
#include "operator/rules/node_filter.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::PoolIndex;
using fabric::Tier;
using objective::kUnplaced;
using objective::Options;
using objective::Request;
using search::Reseated;

namespace {

// Choices of groups to free that are tried, and the most groups in one.
constexpr std::size_t kMostChoices = 256;
constexpr std::size_t kMostFreed = 8;
// Open workers of all the choices that are solved, which bounds the time for large groups.
constexpr std::size_t kMostOpened = 4'096;

// The pools of the first choice that the gang's nodes belong to; of none: their own. Empty: all.
std::vector<PoolIndex> PoolsOf(const fabric::Fabric& fabric, const Request& request,
                               const Loss& loss) {
  if (!request.pool_choices) return {};
  std::vector<PoolIndex> used;
  for (const NodeIndex n : loss.nodes) {
    if (n < NodeIndex(fabric.node_count())) used.push_back(fabric.pool(n));
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const objective::PoolChoice& choice : *request.pool_choices) {
    if (std::includes(choice.pools.begin(), choice.pools.end(), used.begin(), used.end())) {
      return choice.one_pool && !used.empty() ? used : choice.pools;
    }
  }
  return used;  // their labels have changed: nothing else is known to go with them
}

std::vector<WorkerIndex> Union(std::span<const WorkerIndex> a, std::span<const WorkerIndex> b) {
  std::vector<WorkerIndex> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Calls `visit` for each choice of `size` of the numbers below `count`, in order, until it returns
// false.
template <typename Visit>
bool ForEachChoice(std::size_t count, std::size_t size, Visit visit) {
  std::vector<std::size_t> chosen(size);
  for (std::size_t i = 0; i < size; ++i) chosen[i] = i;
  if (size > count) return true;
  while (true) {
    if (!visit(chosen)) return false;
    std::size_t at = size;
    while (at > 0 && chosen[at - 1] == count - size + at - 1) --at;
    if (at == 0) return true;
    ++chosen[at - 1];
    for (std::size_t i = at; i < size; ++i) chosen[i] = chosen[i - 1] + 1;
  }
}

}  // namespace

std::string_view ReasonName(BlockedReason /*the only one*/) { return "NoSpareInDomain"; }

Replacer::Replacer(const fabric::Claims& claims, const Request& request,
                   const traffic::WorkerGraph& graph, const Loss& loss, const Options& options,
                   const search::ReseatLimits& limits)
    : claims_(claims),
      request_(request),
      loss_(loss),
      limits_(limits),
      tolerance_percent_(
          options.cost_tolerance_percent.value_or(claims.fabric().spec().cost_tolerance_percent)),
      instance_(claims, request, graph, options, PoolsOf(claims.fabric(), request, loss)),
      looks_at_pods_(claims.fabric().limits_power() ||
                     rules::LooksAtPods(claims, instance_.query())) {
  WEFT_CHECK(loss.nodes.size() == request.workers);
  WEFT_CHECK(!loss.failed.empty() && std::is_sorted(loss.failed.begin(), loss.failed.end()));
  WEFT_CHECK(loss.failed.back() < loss.nodes.EndIndex());
}

// How many of the open workers each node can take beside those that stay. Rules between pods and
// limits of power depend on where these are, so they are counted as pods that run.
fabric::ByNode<std::uint32_t> Replacer::FreeSlots(std::span<const WorkerIndex> open) const {
  fabric::ByNode<std::uint32_t> free(instance_.slots().begin(), instance_.slots().end());
  std::vector<NodeIndex> stay;
  std::size_t next = 0;
  for (const WorkerIndex w : loss_.nodes.Indices()) {
    if (next < open.size() && open[next] == w) {
      ++next;
    } else {
      stay.push_back(loss_.nodes[w]);
    }
  }
  WEFT_CHECK(next == open.size());  // ascending, and all of this gang
  if (!looks_at_pods_) {
    for (const NodeIndex n : stay) free[n] -= std::min(free[n], 1U);
    return free;
  }
  fabric::Claims with(claims_);
  const std::string space = request_.job.substr(0, request_.job.find('/'));
  const fabric::Neighbour pod{&space, &request_.pod.labels, &*request_.pod.terms, false};
  const std::string domain = request_.pod.claims_compute_domain ? request_.job : "";
  for (const NodeIndex n : stay) with.Add(n, request_.pod.requests, domain, pod);
  // The shares of a spread are those of the workers that come, and not of the whole gang.
  rules::SlotQuery query = instance_.query();
  query.cap = static_cast<std::uint32_t>(open.size());
  rules::CountSlots(with, query, free);
  // A node has one channel of a ComputeDomain, and a worker that stays holds it.
  if (!domain.empty()) {
    for (const NodeIndex n : stay) free[n] = 0;
  }
  return free;
}

std::optional<Reseated> Replacer::Solve(std::span<const WorkerIndex> open) const {
  ByWorker<NodeIndex> nodes = loss_.nodes;
  for (const WorkerIndex w : open) nodes[w] = kUnplaced;
  return search::Reseat(instance_, nodes, FreeSlots(open), tolerance_percent_, limits_);
}

std::vector<Replacer::Set> Replacer::RequiredSets() const {
  std::vector<Set> sets;
  for (const objective::GroupConstraint& group : request_.groups) {
    if (!group.required) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      Set set{*group.required, group.sets.set(s)};
      set.failed = std::any_of(set.workers.begin(), set.workers.end(), [&](WorkerIndex w) {
        return std::binary_search(loss_.failed.begin(), loss_.failed.end(), w);
      });
      sets.push_back(set);
    }
  }
  return sets;
}

std::vector<WorkerIndex> Replacer::WithFailed(std::span<const Set* const> freed) const {
  std::vector<WorkerIndex> open = loss_.failed;
  for (const Set* set : freed) open = Union(open, set->workers);
  return open;
}

// The sets whose move may help: first those that are blocked by themselves, then others with a
// failed worker, then healthy ones that stand where a blocked one could use their nodes.
std::vector<const Replacer::Set*> Replacer::Freeable(std::vector<Set>& sets) const {
  const fabric::ByNode<std::uint32_t> free = FreeSlots(loss_.failed);
  const fabric::Fabric& fabric = instance_.fabric();
  std::vector<std::pair<Tier, DomainIndex>> full;
  for (Set& set : sets) {
    if (!set.failed) continue;
    std::uint64_t needed = 0, room = 0;
    NodeIndex stays = kUnplaced;
    for (const WorkerIndex w : set.workers) {
      const bool failed = std::binary_search(loss_.failed.begin(), loss_.failed.end(), w);
      needed += failed ? 1 : 0;
      if (!failed) stays = loss_.nodes[w];
    }
    if (stays == kUnplaced) continue;  // all failed: the set is free as it is
    const fabric::TierDomains& domains = fabric.domains(set.tier);
    const DomainIndex home = domains.of_node[stays];
    for (NodeIndex n = domains.begin[home]; n < domains.begin[home + 1]; ++n) room += free[n];
    set.blocked = room < needed;
    if (set.blocked) full.emplace_back(set.tier, home);
  }
  std::vector<const Set*> order;
  for (const int pass : {0, 1, 2}) {
    for (const Set& set : sets) {
      const bool stands_there = std::any_of(full.begin(), full.end(), [&](const auto& domain) {
        return std::any_of(set.workers.begin(), set.workers.end(), [&](WorkerIndex w) {
          return loss_.nodes[w] != kUnplaced &&
                 fabric.domains(domain.first).of_node[loss_.nodes[w]] == domain.second;
        });
      });
      const int rank = set.blocked ? 0 : set.failed ? 1 : stands_there ? 2 : 3;
      if (rank == pass) order.push_back(&set);
    }
  }
  return order;
}

// The best placement with the fewest sets freed.
std::optional<Replaced> Replacer::FreeGroups(std::span<const Set* const> sets) const {
  std::size_t tried = 0, opened = 0;
  for (std::size_t size = 1; size <= std::min(sets.size(), kMostFreed); ++size) {
    std::optional<Replaced> best;
    std::size_t best_open = 0;
    ForEachChoice(sets.size(), size, [&](const std::vector<std::size_t>& chosen) {
      std::vector<const Set*> freed;
      for (const std::size_t i : chosen) freed.push_back(sets[i]);
      const std::vector<WorkerIndex> open = WithFailed(freed);
      if (best && open.size() > best_open) return true;
      if (auto found = Solve(open)) {
        opened += open.size();
        const bool better = !best || std::tuple(open.size(), found->best.objective()) <
                                         std::tuple(best_open, best->placement.objective());
        if (better) best = Answer(*std::move(found), static_cast<std::uint32_t>(size));
        if (better) best_open = open.size();
      }
      return ++tried < kMostChoices && opened < kMostOpened;
    });
    if (best) return best;
    if (tried >= kMostChoices) break;
  }
  // Many groups have no spare: these together.
  std::vector<const Set*> blocked;
  for (const Set* set : sets) {
    if (set->blocked) blocked.push_back(set);
  }
  if (blocked.empty()) return std::nullopt;
  auto found = Solve(WithFailed(blocked));
  if (!found) return std::nullopt;
  return Answer(*std::move(found), static_cast<std::uint32_t>(blocked.size()));
}

Replaced Replacer::Answer(Reseated found, std::uint32_t groups) const {
  Replaced answer{std::move(found.best), loss_.failed, groups, found.exact};
  for (const WorkerIndex w : loss_.nodes.Indices()) {
    if (answer.placement.nodes[w] != loss_.nodes[w]) answer.moved.push_back(w);
  }
  std::sort(answer.moved.begin(), answer.moved.end());
  answer.moved.erase(std::unique(answer.moved.begin(), answer.moved.end()), answer.moved.end());
  WEFT_CHECK(MovedMeetTopology(answer));
  return answer;
}

// Whether every set that holds a moved worker meets its rule. The others stay as they are, even if
// labels of nodes have changed since the gang started.
bool Replacer::MovedMeetTopology(const Replaced& answer) const {
  const ByWorker<NodeIndex>& nodes = answer.placement.nodes;
  if (request_.required && instance_.HullOfAll(nodes) < *request_.required) return false;
  const std::vector<Set> sets = RequiredSets();
  return std::none_of(sets.begin(), sets.end(), [&](const Set& set) {
    return instance_.HullOf(set.workers, nodes) < set.tier &&
           std::any_of(set.workers.begin(), set.workers.end(), [&](WorkerIndex w) {
             return std::binary_search(answer.moved.begin(), answer.moved.end(), w);
           });
  });
}

// Nodes for some of the failed workers, while the others stand in where they were.
std::optional<Reseated> Replacer::SolveSome(std::span<const WorkerIndex> served) const {
  ByWorker<NodeIndex> nodes = loss_.nodes;
  for (const WorkerIndex w : loss_.failed) {
    if (std::binary_search(served.begin(), served.end(), w)) {
      nodes[w] = kUnplaced;
    } else if (nodes[w] == kUnplaced) {
      nodes[w] = MateOf(w);
    }
  }
  return search::Reseat(instance_, nodes, FreeSlots(loss_.failed), tolerance_percent_, limits_);
}

// The node of a healthy worker that shares the most rules with this one.
NodeIndex Replacer::MateOf(WorkerIndex worker) const {
  Tier narrowest = fabric::kOutside;
  NodeIndex mate = kUnplaced;
  for (const WorkerIndex w : loss_.nodes.Indices()) {
    if (!std::binary_search(loss_.failed.begin(), loss_.failed.end(), w)) {
      mate = loss_.nodes[w];
      break;
    }
  }
  for (const Set& set : RequiredSets()) {
    if (set.tier <= narrowest) continue;
    if (!std::binary_search(set.workers.begin(), set.workers.end(), worker)) continue;
    for (const WorkerIndex w : set.workers) {
      if (std::binary_search(loss_.failed.begin(), loss_.failed.end(), w)) continue;
      mate = loss_.nodes[w];
      narrowest = set.tier;
      break;
    }
  }
  return mate;
}

ReplaceAnswer Replacer::Run() const {
  const std::size_t healthy = loss_.nodes.size() - loss_.failed.size();
  if (healthy == 0) return Recreate{};
  if (loss_.failed.size() > search::kMostReseated) return Recreate{{}, {}, true};
  if (auto found = Solve(loss_.failed)) return Answer(*std::move(found), 0);
  std::vector<Set> sets = RequiredSets();
  const std::vector<const Set*> freeable = Freeable(sets);
  if (auto freed = FreeGroups(freeable)) return *std::move(freed);
  return Refuse(sets);
}

// The narrowest rule that keeps the worker where its group or the job is.
Replacer::Home Replacer::HomeOf(WorkerIndex worker, std::span<const Set> sets) const {
  Home home;
  const auto look = [&](Tier tier, auto workers) {
    for (const WorkerIndex w : workers) {
      if (std::binary_search(loss_.failed.begin(), loss_.failed.end(), w)) continue;
      Join({tier, instance_.fabric().domains(tier).of_node[loss_.nodes[w]]}, home);
    }
  };
  if (request_.required) look(*request_.required, loss_.nodes.Indices());
  for (const Set& set : sets) {
    const bool holds = std::binary_search(set.workers.begin(), set.workers.end(), worker);
    if (holds) look(set.tier, set.workers);
  }
  return home;
}

// Narrows a home to one more domain, unless the two are apart.
void Replacer::Join(const Home& other, Home& home) const {
  const fabric::Fabric& fabric = instance_.fabric();
  const Home &wide = other.tier < home.tier ? other : home,
             &narrow = other.tier < home.tier ? home : other;
  const NodeIndex first = fabric.domains(narrow.tier).begin[narrow.domain];
  const bool inside = fabric.domains(wide.tier).of_node[first] == wide.domain;
  const bool possible = home.possible && other.possible && inside;
  home = narrow;
  home.possible = possible;
}

// Serves the failed workers one after the other, each only if all before it have a node too. Homes
// are domains of one tree, so there are nodes for all exactly if no domain has more workers with
// their homes inside than room (Hall's theorem). Groups of which no worker is healthy have no home
// yet, so the search may still find none for them; they are then blocked.
Recreate Replacer::Refuse(std::span<const Set> sets) const {
  const fabric::Fabric& fabric = instance_.fabric();
  const fabric::ByNode<std::uint32_t> free = FreeSlots(loss_.failed);
  fabric::ByTier<fabric::ByDomain<std::uint64_t>> room(fabric.tiers().EndIndex());
  for (const Tier t : room.Indices()) {
    room[t].assign(fabric.domains(t).EndIndex(), 0U);
    for (const NodeIndex n : free.Indices()) room[t][fabric.domains(t).of_node[n]] += free[n];
  }
  std::vector<WorkerIndex> served;
  for (const WorkerIndex w : loss_.failed) {
    const Home home = HomeOf(w, sets);
    const NodeIndex first = fabric.domains(home.tier).begin[home.domain];
    bool fits = home.possible;
    for (Tier t{0}; t <= home.tier; ++t) {
      fits = fits && room[t][fabric.domains(t).of_node[first]] > 0;
    }
    if (!fits) continue;
    for (Tier t{0}; t <= home.tier; ++t) --room[t][fabric.domains(t).of_node[first]];
    served.push_back(w);
  }
  std::optional<Reseated> found;
  if (!served.empty()) found = SolveSome(served);
  if (!found) {
    std::erase_if(served, [&](WorkerIndex w) { return InFailedSet(w, sets); });
    if (!served.empty()) found = SolveSome(served);
  }
  Recreate answer;
  for (const WorkerIndex w : loss_.failed) {
    if (found && std::binary_search(served.begin(), served.end(), w)) {
      answer.held.push_back({w, found->best.nodes[w]});
      continue;
    }
    const Home home = HomeOf(w, sets);
    answer.blocked.push_back({w, home.tier, home.domain});
  }
  return answer;
}

// Whether no worker of one of its sets is healthy.
bool Replacer::InFailedSet(WorkerIndex worker, std::span<const Set> sets) const {
  return std::any_of(sets.begin(), sets.end(), [&](const Set& set) {
    return std::binary_search(set.workers.begin(), set.workers.end(), worker) &&
           std::includes(loss_.failed.begin(), loss_.failed.end(), set.workers.begin(),
                         set.workers.end());
  });
}

ReplaceAnswer Replace(const fabric::Claims& claims, const Request& request,
                      const traffic::WorkerGraph& graph, const Loss& loss, const Options& options,
                      const search::ReseatLimits& limits) {
  return Replacer(claims, request, graph, loss, options, limits).Run();
}

}  // namespace weft::placement
