#include "operator/search/rooms.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

Rooms::Rooms(const objective::Instance& instance, fabric::ByTier<std::uint32_t> units)
    : instance_(&instance), node_tier_(instance.node_tier()), sorted_(node_tier_ + 1) {
  for (Tier t{0}; t < node_tier_; ++t) sorted_[t].resize(instance.fabric().domains(t).size());
  plain_ = std::all_of(units.begin(), units.end(), [](std::uint32_t unit) { return unit <= 1; });
  WEFT_CHECK(units.EndIndex() == node_tier_ + 1);  // one a tier
  if (plain_) return;
  WEFT_CHECK(std::find(units.begin(), units.end(), 0U) == units.end());  // rooms are multiples
  node_unit_ = units[node_tier_];
  room_.resize(node_tier_);
  for (Tier t = node_tier_; t-- > Tier{0};) {
    const fabric::TierDomains& domains = instance.fabric().domains(t);
    room_[t].resize(domains.size());
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      std::uint64_t sum = 0;
      const DomainIndex end = domains.child_begin[d + 1];
      for (DomainIndex c = domains.child_begin[d]; c < end; ++c) sum += room(t + 1, c);
      room_[t][d] = sum - sum % units[t];
    }
  }
}

std::span<const DomainIndex> Rooms::Children(Tier tier, DomainIndex domain) {
  std::vector<DomainIndex>& children = sorted_[tier][domain];
  if (!children.empty()) return children;
  keys_.clear();
  const auto& begin = instance_->fabric().domains(tier).child_begin;
  for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
    const std::uint64_t space = room(tier + 1, c);
    if (space == 0) continue;
    const std::uint64_t free = instance_->wholly_free(tier + 1, c) ? 1 : 0;
    keys_.push_back({(~space << 1) | free, c});
  }
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return a.less_room_and_free != b.less_room_and_free
               ? a.less_room_and_free < b.less_room_and_free
               : a.child < b.child;
  });
  children.reserve(keys_.size());
  for (const Key& key : keys_) children.push_back(key.child);
  return children;
}

std::size_t Rooms::TightestFit(Tier tier, DomainIndex domain, std::size_t first,
                               std::uint64_t wanted) {
  const auto children = Children(tier, domain);
  const auto from = children.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = std::partition_point(from, children.end(),
                                        [&](DomainIndex c) { return room(tier + 1, c) >= wanted; });
  WEFT_CHECK(end != from);  // the caller knows that the first one has room
  const std::uint64_t least = room(tier + 1, *(end - 1));
  const auto begin =
      std::partition_point(from, end, [&](DomainIndex c) { return room(tier + 1, c) > least; });
  return static_cast<std::size_t>(begin - children.begin());
}

std::vector<std::uint64_t> Rooms::Typical(Tier tier, DomainIndex domain, std::uint64_t workers) {
  std::vector<std::uint64_t> typical;
  while (tier < node_tier_) {
    const auto children = Children(tier, domain);
    if (children.empty()) break;
    std::size_t used = 0;
    std::uint64_t rest = workers;
    for (; used < children.size() && rest > 0; ++used) {
      rest -= std::min(rest, room(tier + 1, children[used]));
    }
    WEFT_CHECK(used > 0);  // no room is empty, so workers are left for one
    domain = children[(used - 1) / 2];
    ++tier;
    workers = std::min(workers, room(tier, domain));
    typical.push_back(workers);
  }
  return typical;
}

}  // namespace weft::search
