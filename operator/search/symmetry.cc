#include "operator/search/symmetry.h"

#include <algorithm>
#include <map>

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Numbers values in the order in which they first occur.
class Numbering {
 public:
  std::uint32_t Of(std::vector<std::uint64_t> value) {
    return seen_.try_emplace(std::move(value), static_cast<std::uint32_t>(seen_.size()))
        .first->second;
  }

 private:
  std::map<std::vector<std::uint64_t>, std::uint32_t> seen_;
};

}  // namespace

bool MayHold(const objective::Instance& instance, NodeIndex node) {
  if (instance.slots()[node] == 0) return false;
  const Tier required = instance.request().required.value_or(fabric::kOutside);
  const DomainIndex domain = instance.fabric().domains(required).of_node[node];
  return instance.SlotsIn(required, domain) >= instance.workers();
}

Symmetry::Symmetry(const objective::Instance& instance) : instance_(&instance) {
  const fabric::Fabric& fabric = instance.fabric();
  const Tier last = instance.node_tier();
  signature_.resize(last + 1);
  least_name_.resize(last + 1);
  const objective::PairCost& pair_cost = instance.pair_cost();
  Numbering numbering;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (!MayHold(instance, n)) {
      signature_[last].push_back(0);
      least_name_[last].push_back(~0U);
      continue;
    }
    signature_[last].push_back(
        numbering.Of({instance.slots()[n], instance.wholly_free(last, AsDomain(n)),
                      pair_cost.stand(n), instance.was_used(n) ? n.Raw() + std::uint64_t{1} : 0}));
    least_name_[last].push_back(fabric.name_rank(n));
  }
  for (Tier t = last; t-- > Tier{0};) {
    const fabric::TierDomains& domains = fabric.domains(t);
    Numbering of_tier;
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      std::vector<std::uint64_t> value;
      std::uint32_t least = ~0U;
      for (DomainIndex c = domains.child_begin[d]; c < domains.child_begin[d + 1]; ++c) {
        least = std::min(least, least_name_[t + 1][c]);
        if (least_name_[t + 1][c] != ~0U) value.push_back(signature_[t + 1][c]);
      }
      if (least == ~0U) {  // no node in it takes a worker
        signature_[t].push_back(0);
        least_name_[t].push_back(least);
        continue;
      }
      std::sort(value.begin(), value.end());
      value.push_back(instance.wholly_free(t, d));
      // With a network beside the levels, no two domains are interchangeable.
      if (pair_cost.beside_tiers()) value.push_back(std::uint64_t{1} << 32 | d.Raw());
      signature_[t].push_back(of_tier.Of(std::move(value)));
      least_name_[t].push_back(least);
    }
  }
}

std::vector<std::vector<NodeIndex>> Symmetry::Representatives(std::size_t most) const {
  std::vector<NodeIndex> kept;
  if (instance_->fabric().node_count() > 0) Collect(fabric::kOutside, DomainIndex{0}, kept);
  std::sort(kept.begin(), kept.end());
  const Tier home = instance_->request().required.value_or(fabric::kOutside);
  const auto& of_node = instance_->fabric().domains(home).of_node;
  std::vector<std::vector<NodeIndex>> homes;
  for (const NodeIndex n : kept) {
    if (homes.empty() || of_node[homes.back().front()] != of_node[n]) homes.emplace_back();
    homes.back().push_back(n);
    if (homes.back().size() > most) return {};
  }
  return homes;
}

void Symmetry::Collect(Tier tier, DomainIndex domain, std::vector<NodeIndex>& kept) const {
  if (tier == instance_->node_tier()) {
    kept.push_back(AsNode(domain));
    return;
  }
  const auto& begin = instance_->fabric().domains(tier).child_begin;
  std::vector<DomainIndex> children;
  for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
    if (least_name_[tier + 1][c] != ~0U) children.push_back(c);
  }
  std::sort(children.begin(), children.end(), [&](DomainIndex a, DomainIndex b) {
    return least_name_[tier + 1][a] < least_name_[tier + 1][b];
  });
  const Tier home = instance_->request().required.value_or(fabric::kOutside);
  const std::uint32_t alike = tier < home ? 1 : instance_->workers();
  std::map<std::uint32_t, std::uint32_t> taken;
  for (DomainIndex c : children) {
    if (++taken[signature_[tier + 1][c]] > alike) continue;
    Collect(tier + 1, c, kept);
  }
}

}  // namespace weft::search
