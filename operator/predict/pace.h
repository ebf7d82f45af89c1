#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/objective/nodes.h"
#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"

namespace weft::predict {

// The uplinks of all domains, as dense ids. The uplink of a domain joins it to the next wider
// level; its rate is that of all accelerators of the domain together.
class Uplinks {
 public:
  explicit Uplinks(const fabric::Fabric& fabric);

  std::uint32_t size() const { return static_cast<std::uint32_t>(rates_.size()); }
  std::uint32_t Of(fabric::Tier tier, fabric::DomainIndex domain) const {
    return first_[tier] + domain.Raw();
  }
  // The ids of a tier's domains: [first(tier), first(tier + 1)), for tiers from 1 to node_tier - 1.
  std::uint32_t first(fabric::Tier tier) const { return first_[tier]; }
  double rate(std::uint32_t link) const { return rates_[link]; }  // usable bytes/s

 private:
  fabric::ByTier<std::uint32_t> first_;
  std::vector<double> rates_;
};

// What one job sends over one uplink.
struct LinkUse {
  std::uint32_t link = 0;
  double bytes = 0;  // in one step
  double gpus = 0;   // of the job in the domain
};

// How fast a placed job trains.
//
// Units  seconds of one optimizer step; 0 if nothing is predicted for the job.
struct Pace {
  double alone = 0;           // no other job uses its links
  double shared = 0;          // all its neighbours send too: what Weft predicts for a placement
  std::vector<LinkUse> uses;  // of bytes > 0
  fabric::ByTier<double> level_bytes;  // that leave the job's domains of each tier in a step
};

// The layout of a workload that has a transformer.
outlook::Layout LayoutOf(const cluster::WorkloadView& workload, const traffic::Traffic& traffic);

// Predicts the pace of a workload on its nodes by outlook. All 0 if the workload has no transformer
// or is on one node.
//
//   shared  outlook::StepOf on the links of the placement, each GPU with its share of an
//           oversubscribed link
//   alone   the same, but a GPU whose neighbours are idle has their share too, up to the rate of
//           its own port: share x accelerators of the domain / GPUs of the job in it
//
// Cost  O(seats of the traffic x tiers) for a job of several nodes, nothing for one of one node.
Pace PaceOf(const cluster::ClusterFabric& on, const Uplinks& uplinks,
            const cluster::WorkloadView& workload, const traffic::Traffic& traffic,
            const outlook::Accelerator& accelerator, objective::Nodes nodes);

}  // namespace weft::predict
