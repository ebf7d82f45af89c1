#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/decide/cluster.h"
#include "operator/outlook/accelerators.h"
#include "operator/outlook/layout.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

// The uplinks of all domains, as dense ids. The uplink of a domain joins it to the next wider
// level; its rate is that of all accelerators of the domain together.
class Uplinks {
 public:
  explicit Uplinks(const fabric::Fabric& fabric);

  std::uint32_t size() const { return static_cast<std::uint32_t>(rates_.size()); }
  std::uint32_t Of(fabric::Tier tier, fabric::DomainIndex domain) const {
    return first_[tier] + domain;
  }
  // The ids of a tier's domains: [first(tier), first(tier + 1)), for tiers from 1 to node_tier - 1.
  std::uint32_t first(fabric::Tier tier) const { return first_[tier]; }
  double rate(std::uint32_t link) const { return rates_[link]; }  // usable bytes/s

 private:
  std::vector<std::uint32_t> first_;
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
// Units  seconds of one optimizer step; 0 if nothing is predicted for the job, which then runs as
//        long as its trace says wherever it is placed.
struct Pace {
  double alone = 0;           // no other job uses its links
  double shared = 0;          // all its neighbours send too: what Weft predicts for a placement
  std::vector<LinkUse> uses;  // of bytes > 0
  std::vector<double> level_bytes;  // that leave the job's domains of each tier in one step
};

// The accelerator of the nodes (decide::AcceleratorOf), or an H100 if it is unknown.
outlook::Accelerator AcceleratorOrAssumed(const fabric::Fabric& fabric,
                                          std::span<const fabric::NodeIndex> nodes);

// Predicts the pace of jobs by outlook.
//
//   shared  outlook::StepOf on the links of the placement, each GPU with its share of an
//           oversubscribed link
//   alone   the same, but a GPU whose neighbours are idle has their share too, up to the rate of
//           its own port: share x accelerators of the domain / GPUs of the job in it
//
// Cost  O(seats of the traffic x tiers) for a job of several nodes, nothing for one of one node.
class Paces {
 public:
  explicit Paces(const decide::ClusterFabric& on);

  Pace Of(const Shape& shape, std::span<const fabric::NodeIndex> nodes) const;
  // Errors  kInvalid if the job has no transformer.
  Result<double> TokensPerSecond(const Shape& shape,
                                 std::span<const fabric::NodeIndex> nodes) const;
  const Uplinks& uplinks() const { return uplinks_; }
  // A sentence if the nodes' accelerator is unknown and another is assumed; "" otherwise.
  const std::string& Note() const { return note_; }

 private:
  void AddUses(const Shape& shape, std::span<const fabric::NodeIndex> nodes, Pace& pace) const;

  const decide::ClusterFabric& on_;
  Uplinks uplinks_;
  std::string note_;
};

}  // namespace weft::simulate
