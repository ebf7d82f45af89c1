#include "operator/objective/ring_rate.h"

#include <algorithm>
#include <span>

#include "operator/base/check.h"
#include "operator/objective/instance.h"

namespace weft::objective {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Seat;

// The part of a group in one domain.
struct Part {
  std::uint32_t members = 0, exits = 0;
};

class RingRate {
 public:
  RingRate(const Instance& instance, Nodes nodes, Tier scale_up)
      : instance_(instance), nodes_(nodes), scale_up_(scale_up) {}

  std::uint32_t Percent(const traffic::SeatedGroups& ring) {
    for (Tier t{1}; t <= scale_up_; ++t) {
      parts_.assign(instance_.fabric().domains(t).size(), {});
      for (std::size_t b = 0; b < ring.batches(); ++b) Visit(t, ring.seats(b));
    }
    return percent_;
  }

 private:
  void Visit(Tier tier, std::span<const Seat> seats) {
    const fabric::ByNode<DomainIndex>& of_node = instance_.fabric().domains(tier).of_node;
    used_.clear();
    std::uint32_t open = 0;  // members without a node
    for (std::size_t i = 0; i < seats.size(); ++i) {
      const NodeIndex node = nodes_[seats[i].worker];
      if (node == kUnplaced) {
        open += seats[i].ranks;
        continue;
      }
      Part& part = parts_[of_node[node]];
      if (part.members == 0) used_.push_back(of_node[node]);
      part.members += seats[i].ranks;
      const NodeIndex next = nodes_[seats[i + 1 == seats.size() ? 0 : i + 1].worker];
      part.exits += next != kUnplaced && of_node[next] != of_node[node] ? 1 : 0;
    }
    for (const DomainIndex d : used_) {
      if (used_.size() > 1) Slow(tier, {parts_[d].members + open, parts_[d].exits});
      parts_[d] = {};
    }
  }

  void Slow(Tier tier, Part part) {
    const Int128 inside =
        Int128{instance_.pair_cost().TierWeight(scale_up_)} * std::max(part.members, 1U);
    const Int128 between =
        Int128{instance_.pair_cost().TierWeight(tier - 1)} * std::max(part.exits, 1U);
    WEFT_CHECK(inside > 0);  // no link is free
    constexpr Int128 kMost = ~std::uint32_t{0};
    const Int128 percent = std::clamp<Int128>((100 * between + inside - 1) / inside, 100, kMost);
    percent_ = std::max(percent_, static_cast<std::uint32_t>(percent));
  }

  const Instance& instance_;
  const Nodes nodes_;
  const Tier scale_up_;
  fabric::ByDomain<Part> parts_;   // of one group; empty between groups
  std::vector<DomainIndex> used_;  // by the group
  std::uint32_t percent_ = 0;
};

}  // namespace

std::optional<std::uint32_t> RingPercent(const Instance& instance, Nodes nodes) {
  const auto& ring = instance.request().ring;
  const auto scale_up = instance.fabric().nested_scale_up();
  const auto weights = instance.pair_cost().tier_weights();
  if (!ring || !scale_up || instance.pair_cost().beside_tiers()) return std::nullopt;
  if (weights[*scale_up] >= weights[*scale_up - 1]) return std::nullopt;
  return RingRate(instance, nodes, *scale_up).Percent(*ring);
}

}  // namespace weft::objective
