#include "operator/objective/pair_cost.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::objective {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Bytes x femtoseconds per byte; the bytes may be saturated.
Int128 Product(std::int64_t bytes, std::int64_t weight) {
  return static_cast<Int128>(bytes) * static_cast<Int128>(weight);
}

// A link with `has` of `full` rails is that much slower; rounded half up.
std::int64_t ScaledByRails(std::int64_t weight, int full, int has) {
  if (has >= full || has <= 0) return weight;
  const Int128 scaled = (Product(weight, full) * 2 + has) / (2 * static_cast<Int128>(has));
  return static_cast<std::int64_t>(std::min<Int128>(scaled, kSaturated));
}

// A clique's members on their nodes, in tree order: the domains of every tier are runs.
struct NodeSeat {
  NodeIndex node;
  std::int64_t ranks;
};

// Sum over pairs of seats of ranks x ranks x weight[narrowest shared tier]:
// pairs that share no domain of tier t pay the step from weight[t] to weight[t - 1].
Int128 PairSum(const fabric::Fabric& fabric, std::span<const NodeSeat> seats,
               IndexSpan<Tier, const std::int64_t> weight) {
  Int128 all = 0;
  for (const NodeSeat& seat : seats) all += seat.ranks;
  Int128 sum = 0;
  for (Tier tier{1}; tier < weight.EndIndex(); ++tier) {
    const std::int64_t step = weight[tier - 1] - weight[tier];
    if (step == 0) continue;
    WEFT_DCHECK(step > 0);
    const fabric::ByNode<DomainIndex>& of_node = fabric.domains(tier).of_node;
    Int128 together = 0;
    for (std::size_t i = 0; i < seats.size();) {
      Int128 in_domain = 0;
      const DomainIndex domain = of_node[seats[i].node];
      for (; i < seats.size() && of_node[seats[i].node] == domain; ++i) in_domain += seats[i].ranks;
      together += in_domain * in_domain;
    }
    sum += (all * all - together) / 2 * step;
  }
  return sum;
}

}  // namespace

PairCost::PairCost(const fabric::Fabric& fabric, bool claims_compute_domain) : fabric_(&fabric) {
  const Tier node_tier = fabric.node_tier();
  weight_.resize(node_tier + 1);
  for (Tier t{0}; t < node_tier; ++t) weight_[t] = fabric.tiers()[t].link.femtoseconds_per_byte;
  const bool may_scale_up = !fabric.ScaleUpNeedsClaim() || claims_compute_domain;
  const std::optional<Tier> nested = fabric.nested_scale_up();
  const Tier levels = nested ? *nested : node_tier;  // tiers [0, levels) are outside and the levels
  WEFT_CHECK(levels > Tier{0} && levels <= node_tier);
  for (Tier t = levels - 1; t-- > Tier{0};) weight_[t] = std::max(weight_[t], weight_[t + 1]);
  if (nested) {
    const std::int64_t level = weight_[*nested - 1];
    weight_[*nested] =
        may_scale_up ? std::min(level, fabric.scale_up_link().femtoseconds_per_byte) : level;
  }
  weight_[node_tier] = 0;
  // No tier is cheaper than a narrower one: bounds and searches count steps between tiers.
  WEFT_CHECK(std::is_sorted(weight_.rbegin(), weight_.rend()));
  torus_ = fabric.torus();
  if (torus_ != nullptr) hop_weight_ = fabric.torus_link().femtoseconds_per_byte;
  NameNetworks(may_scale_up);
  least_off_torus_ = weight_[node_tier - 1];
  for (const Plane& plane : planes_) least_off_torus_ = std::min(least_off_torus_, plane.weight);
  hierarchical_ = planes_.empty() && torus_ == nullptr && !fabric.any_degraded();
  if (!hierarchical_ || fabric.path_codes().empty()) return;
  codes_ = fabric.path_codes().Items().data();
  for (int bit = 0; bit < 64; ++bit) {
    weight_by_bit_[static_cast<std::size_t>(bit) + 1] = weight_[fabric.parting_tier(bit)];
  }
}

bool PairCost::IsFreeLevel(Tier tier) const {
  return weight_[tier - 1] == weight_[tier] && fabric_->domains(tier).size() > 1;
}

std::vector<Tier> PairCost::free_levels() const {
  std::vector<Tier> free;
  const Tier levels = fabric_->nested_scale_up().value_or(fabric_->node_tier());
  for (Tier t{1}; t < levels; ++t) {
    if (IsFreeLevel(t)) free.push_back(t);
  }
  return free;
}

std::int64_t PairCost::Nudge(NodeIndex a, NodeIndex b) const {
  std::int64_t left = 0;
  const Tier levels = fabric_->nested_scale_up().value_or(fabric_->node_tier());
  for (Tier t = SharedTier(a, b) + 1; t < levels; ++t) left += IsFreeLevel(t) ? 1 : 0;
  return left;
}

void PairCost::NameNetworks(bool may_scale_up) {
  for (const fabric::TierInfo& tier : fabric_->tiers())
    networks_.push_back({tier.name, &tier.link});
  const auto add = [&](std::string_view name, const fabric::Link& link) {
    networks_.push_back({name, &link});
    return static_cast<NetworkIndex>(networks_.size()) - 1;
  };
  for (const fabric::Plane& plane : fabric_->planes()) {
    const NetworkIndex network = add(plane.name, plane.link);
    if (plane.scale_up && !may_scale_up) continue;
    planes_.push_back({&plane.of_node, plane.link.femtoseconds_per_byte, network});
  }
  if (torus_ != nullptr) torus_network_ = add(fabric_->spec().torus->name, fabric_->torus_link());
}

PairCost::NetworkIndex PairCost::CarryingNetwork(NodeIndex a, NodeIndex b) const {
  const Tier shared = SharedTier(a, b);
  if (shared == fabric_->node_tier()) return shared.Raw();
  std::int64_t least = LevelWeight(shared, a, b);
  const std::optional<Tier> nested = fabric_->nested_scale_up();
  NetworkIndex carrying = shared.Raw();
  if (nested && shared == *nested && weight_[shared] == weight_[shared - 1]) --carrying;
  for (const Plane& plane : planes_) {
    if (plane.weight >= least || !plane.Joins(a, b)) continue;
    least = plane.weight;
    carrying = plane.network;
  }
  if (torus_ != nullptr && torus_->SameTorus(a, b) && torus_->Hops(a, b) * hop_weight_ < least) {
    carrying = torus_network_;
  }
  return carrying;
}

// The weight of the shared level, or of a nested scale-up network, with the rails that both nodes
// have.
std::int64_t PairCost::LevelWeight(Tier shared, NodeIndex a, NodeIndex b) const {
  const std::optional<Tier> nested = fabric_->nested_scale_up();
  const bool by_scale_up = nested && shared == *nested && weight_[shared] < weight_[shared - 1];
  if (by_scale_up) return weight_[shared];
  const int rails = std::min(fabric_->rails_of(a), fabric_->rails_of(b));
  return ScaledByRails(weight_[shared], fabric_->rails_full(), rails);
}

std::int64_t PairCost::SlowWeight(NodeIndex a, NodeIndex b) const {
  const bool by_torus = torus_ != nullptr && torus_->SameTorus(a, b);
  const std::int64_t hops = by_torus ? torus_->Hops(a, b) * hop_weight_ : 0;
  if (by_torus && hops <= LeastOffTorus()) return hops;
  const Tier shared = SharedTier(a, b);
  if (hierarchical_) return weight_[shared];
  std::int64_t least = LevelWeight(shared, a, b);
  for (const Plane& plane : planes_) {
    if (plane.Joins(a, b)) least = std::min(least, plane.weight);
  }
  return by_torus ? std::min(least, hops) : least;
}

Tier PairCost::TierWithin(std::int64_t weight) const {
  WEFT_CHECK(weight >= 0);  // else no tier is within it
  Tier tier{0};
  while (weight_[tier] > weight) ++tier;  // the node tier's is 0
  return tier;
}

std::int64_t PairCost::LinkWeight(NodeIndex a, NodeIndex b) const {
  return a == b ? fabric_->node_link().femtoseconds_per_byte : Weight(a, b);
}

std::int64_t PairCost::LeastWeight(Tier widest_shared) const {
  std::int64_t least = weight_[widest_shared];
  for (const Plane& plane : planes_) least = std::min(least, plane.weight);
  // Nodes that share no domain of the torus's tier are in different toruses.
  if (torus_ != nullptr && widest_shared >= fabric_->torus_tier()) {
    least = std::min(least, hop_weight_);
  }
  return least;
}

Int128 CliqueCost(const PairCost& pair_cost, const traffic::Clique& clique, Nodes nodes) {
  std::vector<NodeSeat> seats;
  seats.reserve(clique.members.size());
  for (const auto& member : clique.members) seats.push_back({nodes[member.worker], member.ranks});
  std::sort(seats.begin(), seats.end(),
            [](const NodeSeat& x, const NodeSeat& y) { return x.node < y.node; });
  if (pair_cost.hierarchical()) {
    return PairSum(pair_cost.fabric(), seats, pair_cost.tier_weights()) *
           clique.bytes_per_rank_pair;
  }
  Int128 sum = 0;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    for (std::size_t j = i + 1; j < seats.size(); ++j) {
      sum += static_cast<Int128>(seats[i].ranks) * seats[j].ranks *
             pair_cost.Weight(seats[i].node, seats[j].node);
    }
  }
  return sum * clique.bytes_per_rank_pair;
}

Int128 Cost(const PairCost& pair_cost, const traffic::WorkerGraph& graph, Nodes nodes) {
  WEFT_CHECK(nodes.size() == graph.workers());
  Int128 sum = 0;
  for (const traffic::Edge& edge : graph.edges()) {
    sum += Product(edge.bytes, pair_cost.Weight(nodes[edge.a], nodes[edge.b]));
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    sum += CliqueCost(pair_cost, clique, nodes);
  }
  return sum;
}

}  // namespace weft::objective
