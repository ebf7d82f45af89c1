#pragma once

#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"
#include "operator/traffic/traffic.h"

namespace weft::outlook {

// The network of a placed job: the fabric's links at the share of their nominal rate that
// collectives reach (constants.h).
//
// How     Ranks of one node share its node link. A group's ring visits its nodes in rank order.
//         From one domain to another, the link of the narrowest tier that holds both carries the
//         ring, or a scale-up network if it is faster and the job may use it, or a torus if it is
//         faster: over several hops a message has that fraction of the link's rate. Of the groups
//         of an axis the worst counts: fewest members on one side of a link, most exits from it,
//         most hops.
// Shapes  nodes: one per worker of `traffic`; traffic: of the layout's model and parallelism.
// Cost    O(seats of the groups x tiers that they cross), plus one counter for each domain of
//         these tiers (tests/bench/predict_bench.cc).
struct Place {
  const fabric::Fabric* fabric = nullptr;
  IndexSpan<WorkerIndex, const fabric::NodeIndex> nodes;
  bool claims_compute_domain = false;
};
Network NetworkOf(const Layout& layout, const traffic::Traffic& traffic, const Place& place);

}  // namespace weft::outlook
