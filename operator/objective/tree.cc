#include "operator/objective/tree.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/union_find.h"

namespace weft::objective {

using fabric::ByNode;
using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// The domains of each tier that are kept have room for this many times the job.
constexpr std::uint64_t kRoomKept = 8;

using Run = std::pair<NodeIndex, NodeIndex>;  // [first, second)

// Adds the runs of the tier's roomiest domains among these nodes, until they have far more room
// than needed.
void AddRoomiest(const Instance& instance, Tier tier, Run nodes, std::vector<Run>& runs) {
  const fabric::TierDomains& domains = instance.fabric().domains(tier);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_room;  // a heap; of equals the first wins
  WEFT_CHECK(nodes.first < nodes.second);                        // no domain is without nodes
  const DomainIndex last = domains.of_node[nodes.second - 1];
  for (DomainIndex d = domains.of_node[nodes.first]; d <= last; ++d) {
    by_room.emplace_back(instance.SlotsIn(tier, d), ~d.Raw());
  }
  std::make_heap(by_room.begin(), by_room.end());
  for (std::uint64_t room = 0; !by_room.empty() && room < kRoomKept * instance.workers();) {
    const std::uint64_t more = by_room.front().first;
    const DomainIndex d{~by_room.front().second};
    std::pop_heap(by_room.begin(), by_room.end());
    by_room.pop_back();
    room += more;
    runs.emplace_back(domains.begin[d], domains.begin[d + 1]);
  }
}

// Nodes of the home with slots; of a home with far more room than needed, only those of the
// roomiest domains of each tier: a wide domain may be nearly full and have the emptiest rack.
std::vector<NodeIndex> NodesOf(const Instance& instance, Tier home, DomainIndex domain) {
  const auto& begin = instance.fabric().domains(home).begin;
  const Run all = {begin[domain], begin[domain + 1]};
  std::vector<Run> runs;
  for (Tier t = home + 1; t < instance.node_tier(); ++t) AddRoomiest(instance, t, all, runs);
  if (runs.empty()) runs.push_back(all);
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::vector<NodeIndex> nodes;
  NodeIndex next{0};  // a run is inside an earlier one, or after it
  for (const auto& [from, to] : runs) {
    for (NodeIndex n = std::max(from, next); n < to; ++n) {
      if (instance.slots()[n] > 0) nodes.push_back(n);
    }
    next = std::max(next, to);
  }
  return nodes;
}

// The step of a tier of the fabric: what a byte between its domains costs more than one inside.
// Leaving a domain for nothing still costs a femtosecond (PairCost::Nudge).
std::int64_t StepTo(const PairCost& pair_cost, Tier tier, std::int64_t wider) {
  const auto free = pair_cost.free_levels();
  const std::int64_t nudge = std::find(free.begin(), free.end(), tier) == free.end() ? 0 : 1;
  return std::max(nudge, wider - pair_cost.TierWeight(tier));
}

}  // namespace

Tree::Tree(const Instance& instance, std::vector<NodeIndex> nodes, std::span<const Cut> cuts,
           std::vector<std::int64_t> step)
    : node_(std::move(nodes)), step_(std::move(step)) {
  slots_before_ = {0};
  for (const NodeIndex n : node_) {
    slots_.push_back(instance.slots()[n]);
    slots_before_.push_back(slots_before_.back() + slots_.back());
  }
  domains_.emplace_back();
  domains_.back().begin = {0, positions()};
  domains_.back().of_position.assign(positions(), DomainIndex{0});
  wholly_free_.push_back({0});
  for (const Cut& cut : cuts) AddTier(instance, &cut);
  AddTier(instance, nullptr);
  WEFT_CHECK(step_.size() == domains_.size() && wholly_free_.size() == domains_.size());  // by tier
  WEFT_CHECK(std::all_of(step_.begin(), step_.end(), [](std::int64_t one) { return one >= 0; }));
}

// Adds the next narrower tier. A domain ends where the cut's domain or that of the tier above
// changes. Without a cut, every node is a domain.
void Tree::AddTier(const Instance& instance, const Cut* cut) {
  const Domains& above = domains_.back();
  Domains made;
  fabric::ByDomain<std::uint8_t> free;
  fabric::ByDomain<DomainIndex> child_begin;
  for (std::uint32_t p = 0; p < positions(); ++p) {
    const bool parent_begins = p == 0 || above.of_position[p] != above.of_position[p - 1];
    const bool begins =
        parent_begins || cut == nullptr || cut->of_node[node_[p]] != cut->of_node[node_[p - 1]];
    if (begins) {
      if (parent_begins) child_begin.push_back(made.begin.EndIndex());
      made.begin.push_back(p);
      const std::optional<Tier> tier = cut == nullptr ? instance.node_tier() : cut->tier;
      const DomainIndex domain = cut == nullptr ? AsDomain(node_[p]) : cut->of_node[node_[p]];
      free.push_back(tier && instance.wholly_free(*tier, domain) ? 1 : 0);
    }
    made.of_position.push_back(made.begin.EndIndex() - 1);
  }
  child_begin.push_back(made.begin.EndIndex());
  made.begin.push_back(positions());
  domains_.back().child_begin = std::move(child_begin);
  domains_.push_back(std::move(made));
  wholly_free_.push_back(std::move(free));
}

Tree Tree::OfLevels(const Instance& instance, Tier home, DomainIndex domain) {
  const auto weights = instance.pair_cost().tier_weights();
  std::vector<Cut> cuts;
  std::vector<std::int64_t> step = {0};
  for (Tier t = home + 1; t <= instance.node_tier(); ++t) {
    if (t < instance.node_tier()) cuts.push_back({instance.fabric().domains(t).of_node, t});
    step.push_back(StepTo(instance.pair_cost(), t, weights[t - 1]));
  }
  return {instance, NodesOf(instance, home, domain), cuts, std::move(step)};
}

std::optional<Tree> Tree::OfPlane(const Instance& instance, const PairCost::Plane& plane, Tier home,
                                  DomainIndex domain) {
  const Tier last = instance.node_tier();
  const auto weights = instance.pair_cost().tier_weights();
  const Tier within = instance.pair_cost().TierWithin(plane.weight);
  if (within <= home) return std::nullopt;
  std::vector<ByNode<DomainIndex>> joined;
  std::vector<std::int64_t> step = {0};
  for (Tier t = home + 1; t < within; ++t) {
    joined.push_back(JoinedByPlanes(instance, std::span(&plane, 1), t));
    step.push_back(StepTo(instance.pair_cost(), t, weights[t - 1]));
  }
  std::vector<Cut> cuts;
  for (const ByNode<DomainIndex>& of_node : joined) cuts.push_back({of_node, std::nullopt});
  cuts.push_back({*plane.of_node, std::nullopt});
  step.push_back(weights[within - 1] - plane.weight);
  std::int64_t wider = plane.weight;
  for (Tier t = within; t <= last; ++t) {
    if (t < last) cuts.push_back({instance.fabric().domains(t).of_node, std::nullopt});
    step.push_back(StepTo(instance.pair_cost(), t, wider));
    wider = weights[t];
  }
  std::vector<NodeIndex> nodes = NodesOf(instance, home, domain);
  std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    for (const Cut& cut : cuts) {
      if (cut.of_node[a] != cut.of_node[b]) return cut.of_node[a] < cut.of_node[b];
    }
    return false;
  });
  return Tree(instance, std::move(nodes), cuts, std::move(step));
}

ByNode<DomainIndex> JoinedByPlanes(const Instance& instance,
                                   std::span<const PairCost::Plane> planes, Tier tier) {
  const auto& domains = instance.fabric().domains(tier);
  constexpr DomainIndex kNone = DomainIndex{~0U};
  UnionFind joined(domains.size());
  for (const PairCost::Plane& plane : planes) {
    std::vector<DomainIndex> first(plane.of_node->size(), kNone);  // by the plane's domain
    for (const NodeIndex n : domains.of_node.Indices()) {
      DomainIndex& known = first[(*plane.of_node)[n].Raw()];
      if (known == kNone) known = domains.of_node[n];
      joined.Join(known.Raw(), domains.of_node[n].Raw());
    }
  }
  ByNode<DomainIndex> of_node;
  for (const DomainIndex domain : domains.of_node) of_node.emplace_back(joined.Find(domain.Raw()));
  return of_node;
}

}  // namespace weft::objective
