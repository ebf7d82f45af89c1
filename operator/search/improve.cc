#include "operator/search/improve.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/search/adjacency.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::Candidate;
using traffic::Neighbour;

namespace {

constexpr std::uint32_t kEveryPair = 96;         // up to this many workers every pair is tried
constexpr std::size_t kMostPlaces = 256;         // nodes that the search uses
constexpr std::uint32_t kCliquesUnfolded = 256;  // up to this many workers cliques become pairs
constexpr std::size_t kPartners = 12;            // swap partners tried per neighbour (large jobs)
constexpr std::uint32_t kKicks = 3;              // random swaps to get out of a local optimum
constexpr std::uint32_t kIdleKicks = 40;  // rounds of kicks without a gain before the search ends
constexpr std::uint64_t kSeed = 1;        // any fixed number: same input, same answer

class LocalSearch {
 public:
  LocalSearch(const objective::Instance& instance, const Candidate& start, std::uint32_t steps)
      : instance_(instance),
        adjacency_(instance.graph()),
        current_(start),
        steps_(static_cast<std::int64_t>(steps)) {
    FindPlaces();
  }

  // Descends to a local optimum; for small jobs it repeats this from random kicks while steps
  // remain, until `enough`.
  void Run(Int128 enough) {
    while (steps_ > 0 && Pass()) {
    }
    Candidate best = current_;
    SplitMix64 random(kSeed);
    const bool small = instance_.workers() <= kEveryPair;
    for (std::uint32_t idle = 0; small && idle < kIdleKicks && steps_ > 0; ++idle) {
      if (best.cost <= enough) break;
      for (std::uint32_t i = 0; i < kKicks; ++i) Kick(random);
      while (steps_ > 0 && Pass()) {
      }
      if (current_.objective() == best.objective()) continue;
      if (current_.objective() < best.objective()) {
        best = current_;
        idle = 0;
      } else {
        Restore(best);
      }
    }
    Restore(best);
  }
  const Candidate& current() const { return current_; }

 private:
  struct Step {
    Int128 delta = 0;
    WorkerIndex worker;
    WorkerIndex partner = kNoPartner;
    NodeIndex node{0};
  };
  static constexpr WorkerIndex kNoPartner{~0U};

  void FindPlaces();
  bool Pass();
  void Kick(SplitMix64& random);
  void Restore(const Candidate& candidate);
  Step BestStep(WorkerIndex worker);
  void TrySwap(WorkerIndex worker, WorkerIndex partner, Step& best);
  void TryMove(WorkerIndex worker, NodeIndex node, Step& best);
  void TryNear(WorkerIndex worker, Step& best);
  bool Apply(const Step& step);
  void Write(const Step& step, NodeIndex from);

  Int128 Change(WorkerIndex worker, NodeIndex from, NodeIndex to, WorkerIndex except);
  std::uint32_t& Load(NodeIndex node) {
    const auto place = std::lower_bound(places_.begin(), places_.end(), node);
    WEFT_DCHECK(place != places_.end() && *place == node);
    return load_[static_cast<std::size_t>(place - places_.begin())];
  }
  Tier NarrowTier() const { return instance_.node_tier() - 1; }

  const objective::Instance& instance_;
  Adjacency adjacency_;
  Candidate current_;
  std::int64_t steps_;
  std::vector<NodeIndex> places_;                    // ascending
  std::vector<std::uint32_t> load_;                  // workers on each place
  fabric::ByDomain<std::vector<WorkerIndex>> near_;  // workers by narrow domain, large jobs
};

// Finds the places: nodes in use and free nodes next to them, inside the domain that the
// preferences allow.
void LocalSearch::FindPlaces() {
  const Tier limit = objective::HomeTier(instance_.request(), current_.preferences);
  const fabric::Fabric& fabric = instance_.fabric();
  const DomainIndex home = fabric.domains(limit).of_node[current_.nodes.front()];
  places_ = current_.nodes.Items();
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  const std::vector<NodeIndex> used = places_;
  const auto add_run = [&](NodeIndex begin, NodeIndex end) {
    for (NodeIndex n = begin; n < end && places_.size() < used.size() + kMostPlaces; ++n) {
      if (instance_.slots()[n] > 0 && !std::binary_search(used.begin(), used.end(), n)) {
        places_.push_back(n);
      }
    }
  };
  const auto& homes = fabric.domains(limit).begin;
  if (homes[home + 1] - homes[home] <= kMostPlaces) {
    add_run(homes[home], homes[home + 1]);
  } else if (NarrowTier() > limit) {
    const fabric::TierDomains& narrow = fabric.domains(NarrowTier());
    DomainIndex last = DomainIndex{~0U};
    for (NodeIndex n : used) {
      const DomainIndex d = narrow.of_node[n];
      if (d != last) add_run(narrow.begin[d], narrow.begin[d + 1]);
      last = d;
    }
  }
  std::sort(places_.begin(), places_.end());
  load_.assign(places_.size(), 0);
  for (NodeIndex n : current_.nodes) ++Load(n);
  if (instance_.workers() <= kEveryPair) return;
  near_.resize(fabric.domains(NarrowTier()).size());
  for (const WorkerIndex w : Range<WorkerIndex>(instance_.workers())) {
    near_[fabric.domains(NarrowTier()).of_node[current_.nodes[w]]].push_back(w);
  }
}

Int128 LocalSearch::Change(WorkerIndex worker, NodeIndex from, NodeIndex to, WorkerIndex except) {
  Int128 change = 0;
  const auto neighbours = adjacency_.of(worker);
  steps_ -= static_cast<std::int64_t>(neighbours.size()) + 1;
  for (const Neighbour& neighbour : neighbours) {
    if (neighbour.worker == except) continue;
    const NodeIndex at = current_.nodes[neighbour.worker];
    const std::int64_t before = instance_.pair_cost().Weight(from, at);
    const std::int64_t after = instance_.pair_cost().Weight(to, at);
    change += static_cast<Int128>(neighbour.bytes) * (after - before);
  }
  return change;
}

void LocalSearch::TrySwap(WorkerIndex worker, WorkerIndex partner, Step& best) {
  const NodeIndex from = current_.nodes[worker];
  const NodeIndex to = current_.nodes[partner];
  if (from == to) return;
  const Int128 delta = Change(worker, from, to, partner) + Change(partner, to, from, worker);
  if (delta < best.delta) best = {delta, worker, partner, to};
}

void LocalSearch::TryMove(WorkerIndex worker, NodeIndex node, Step& best) {
  const Int128 delta = Change(worker, current_.nodes[worker], node, worker);
  if (delta < best.delta) best = {delta, worker, kNoPartner, node};
}

// Tries to swap with workers that are near one of the worker's neighbours.
void LocalSearch::TryNear(WorkerIndex worker, Step& best) {
  const fabric::TierDomains& narrow = instance_.fabric().domains(NarrowTier());
  const DomainIndex own = narrow.of_node[current_.nodes[worker]];
  DomainIndex last = own;
  for (const Neighbour& neighbour : adjacency_.of(worker)) {
    const NodeIndex at = current_.nodes[neighbour.worker];
    const DomainIndex there = narrow.of_node[at];
    if (there == own && at == current_.nodes[worker]) continue;
    if (there == last && there != own) continue;
    last = there;
    const auto& partners = near_[there];
    const std::size_t step = std::max<std::size_t>(1, partners.size() / kPartners);
    for (std::size_t i = worker.Raw() % step; i < partners.size(); i += step) {
      if (partners[i] != worker) TrySwap(worker, partners[i], best);
    }
    if (at != current_.nodes[worker] && Load(at) < instance_.slots()[at]) TryMove(worker, at, best);
  }
}

LocalSearch::Step LocalSearch::BestStep(WorkerIndex worker) {
  Step best;
  if (adjacency_.of(worker).empty()) return best;
  if (instance_.workers() > kEveryPair) {
    TryNear(worker, best);
    return best;
  }
  for (const WorkerIndex partner : current_.nodes.Indices()) {
    if (partner != worker) TrySwap(worker, partner, best);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (load_[i] >= instance_.slots()[places_[i]]) continue;
    if (places_[i] != current_.nodes[worker]) TryMove(worker, places_[i], best);
  }
  return best;
}

void LocalSearch::Write(const Step& step, NodeIndex from) {
  current_.nodes[step.worker] = step.node;
  if (step.partner != kNoPartner) current_.nodes[step.partner] = from;
}

bool LocalSearch::Apply(const Step& step) {
  const NodeIndex from = current_.nodes[step.worker];
  Write(step, from);
  if (instance_.has_groups()) {
    const objective::Preferences now = objective::Prefer(instance_, current_.nodes);
    if (now > current_.preferences || !objective::MeetsHardRules(instance_, current_.nodes)) {
      Write({step.delta, step.worker, step.partner, from}, step.node);
      return false;
    }
    current_.preferences = now;
  }
  current_.cost += step.delta;
  if (step.partner == kNoPartner) {
    WEFT_DCHECK(Load(from) > 0 && Load(step.node) < instance_.slots()[step.node]);
    --Load(from);
    ++Load(step.node);
  }
  if (near_.empty()) return true;
  const auto& of_node = instance_.fabric().domains(NarrowTier()).of_node;
  const auto relabel = [&](WorkerIndex worker, NodeIndex old_node) {
    auto& old_near = near_[of_node[old_node]];
    old_near.erase(std::find(old_near.begin(), old_near.end(), worker));
    near_[of_node[current_.nodes[worker]]].push_back(worker);
  };
  relabel(step.worker, from);
  if (step.partner != kNoPartner) relabel(step.partner, step.node);
  return true;
}

bool LocalSearch::Pass() {
  bool improved = false;
  for (const WorkerIndex worker : current_.nodes.Indices()) {
    if (steps_ <= 0) break;
    const Step step = BestStep(worker);
    if (step.delta < 0 && Apply(step)) improved = true;
  }
  return improved;
}

// Swaps a random worker with any other one, or moves it to any free place.
void LocalSearch::Kick(SplitMix64& random) {
  const auto worker = WorkerIndex::Of(random.Below(instance_.workers()));
  const std::uint64_t draw = random.Below(instance_.workers() + places_.size());
  Step step;
  step.worker = worker;
  --steps_;
  if (draw < instance_.workers()) {
    step.partner = WorkerIndex::Of(draw);
    step.node = current_.nodes[step.partner];
    if (step.node == current_.nodes[worker]) return;
    const NodeIndex from = current_.nodes[worker];
    step.delta = Change(worker, from, step.node, step.partner) +
                 Change(step.partner, step.node, from, worker);
  } else {
    const auto place = static_cast<std::size_t>(draw - instance_.workers());
    step.node = places_[place];
    if (load_[place] >= instance_.slots()[step.node]) return;
    if (step.node == current_.nodes[worker]) return;
    step.delta = Change(worker, current_.nodes[worker], step.node, worker);
  }
  Apply(step);
}

void LocalSearch::Restore(const Candidate& candidate) {
  current_ = candidate;
  if (!near_.empty()) return;
  load_.assign(places_.size(), 0);
  for (NodeIndex n : current_.nodes) ++Load(n);
}

}  // namespace

std::optional<Candidate> Improve(const objective::Instance& instance, const Candidate& start,
                                 std::uint32_t steps, Int128 enough) {
  if (steps == 0 || start.cost <= enough || instance.workers() < 2) return std::nullopt;
  if (!instance.graph().cliques().empty() && instance.workers() > kCliquesUnfolded) {
    return std::nullopt;
  }
  LocalSearch search(instance, start, steps);
  search.Run(enough);
  if (search.current().nodes == start.nodes) return std::nullopt;
  Candidate found = objective::Evaluate(instance, search.current().nodes);
  WEFT_DCHECK(found.cost == search.current().cost);  // the changes add up
  return found;
}

}  // namespace weft::search
