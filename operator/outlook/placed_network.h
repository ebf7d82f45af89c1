#pragma once

#include <span>

#include "operator/fabric/fabric.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"
#include "operator/traffic/traffic.h"

namespace weft::outlook {

// What the groups of a placed job run over: the links of a fabric at the share of their nominal
// rate that collectives reach (constants.h).
//
// How     Ranks of one node share its node link. A group's ring visits its nodes in rank order;
// where
//         it passes from one domain to another, the link of the narrowest tier that holds both
//         carries it, or a scale-up network that is faster and that the job may use. Of all groups
//         of an axis the worst counts: fewest members beside each other, most exits.
// Shapes  nodes: one per worker of `traffic`; traffic: of the layout's model and parallelism.
// Cost    O(ranks x axes x tiers).
struct Place {
  const fabric::Fabric* fabric = nullptr;
  std::span<const fabric::NodeIndex> nodes;  // index = worker
  bool claims_compute_domain = false;
};
Network NetworkOf(const Layout& layout, const traffic::Traffic& traffic, const Place& place);

}  // namespace weft::outlook
