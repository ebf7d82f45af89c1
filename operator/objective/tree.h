#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::objective {

// The tree in which tilings are placed: the nested domains below one home, and the home's nodes
// that can take a worker. Tier 0 is the home, the last tier is the nodes. Nodes have positions in
// the tree's order; a domain is a run of positions.
//
// If the job needs only a small part of the home, only the roomiest domains of each tier are kept.
//
// Cost  O(nodes of the home x tiers) to make.
class Tree {
 public:
  // The tree of the fabric's levels.
  static Tree OfLevels(const Instance& instance, fabric::Tier home, fabric::DomainIndex domain);
  // The tree with one plane: domains of a level that is dearer than the plane are merged if they
  // share a domain of the plane. These domains are the next narrower tier, and the levels that are
  // no dearer than the plane divide them. Returns nothing if the home is no dearer than the plane.
  static std::optional<Tree> OfPlane(const Instance& instance, const PairCost::Plane& plane,
                                     fabric::Tier home, fabric::DomainIndex domain);

  fabric::Tier node_tier() const { return fabric::Tier::Of(domains_.size()) - 1; }
  // The domains of one tier, as those of the fabric (fabric::TierDomains) but over positions:
  // domain d holds the positions [begin[d], begin[d + 1]).
  struct Domains {
    fabric::ByDomain<std::uint32_t> begin;  // domains + 1 entries
    fabric::ByDomain<fabric::DomainIndex> child_begin;
    std::vector<fabric::DomainIndex> of_position;

    std::uint32_t size() const { return EndIndex().Raw(); }
    fabric::DomainIndex EndIndex() const { return begin.EndIndex() - 1; }
  };
  const Domains& domains(fabric::Tier tier) const { return domains_[tier]; }
  std::uint32_t positions() const { return static_cast<std::uint32_t>(node_.size()); }
  fabric::NodeIndex node(std::uint32_t position) const { return node_[position]; }
  std::span<const std::uint32_t> slots() const { return slots_; }  // by position
  std::uint64_t SlotsIn(fabric::Tier tier, fabric::DomainIndex domain) const {
    const auto& begin = domains_[tier].begin;
    return slots_before_[begin[domain + 1]] - slots_before_[begin[domain]];
  }
  // Whether no other job runs in the domain; false for a merged domain, because the fabric has no
  // such domain.
  bool wholly_free(fabric::Tier tier, fabric::DomainIndex domain) const {
    return wholly_free_[tier][domain] != 0;
  }
  // Extra cost of a byte between two domains of the tier, compared with a byte inside one; at least
  // a femtosecond at a free level (PairCost::free_levels).
  std::int64_t step(fabric::Tier tier) const { return step_[tier]; }

 private:
  // A tier between the home and the nodes: the domain of each node, and the fabric's tier; no tier
  // if domains are merged.
  struct Cut {
    IndexSpan<fabric::NodeIndex, const fabric::DomainIndex> of_node;
    std::optional<fabric::Tier> tier;
  };
  Tree(const Instance& instance, std::vector<fabric::NodeIndex> nodes, std::span<const Cut> cuts,
       std::vector<std::int64_t> step);
  void AddTier(const Instance& instance, const Cut* cut);

  std::vector<fabric::NodeIndex> node_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> slots_before_;
  fabric::ByTier<Domains> domains_;
  fabric::ByTier<fabric::ByDomain<std::uint8_t>> wholly_free_;
  fabric::ByTier<std::int64_t> step_;
};

// The tier's domain of each node. Domains that share a domain of one of the planes, directly or
// through other domains, are merged into one.
fabric::ByNode<fabric::DomainIndex> JoinedByPlanes(const Instance& instance,
                                                   std::span<const PairCost::Plane> planes,
                                                   fabric::Tier tier);

}  // namespace weft::objective
