#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/seating.h"
#include "operator/traffic/traffic.h"

namespace weft::objective {

// A link is the network that carries a pair's bytes.
using LinkIndex = PairCost::NetworkIndex;

// Bytes of one axis, over all its families.
struct AxisTally {
  std::vector<Int128> bytes;             // by link
  std::vector<Int128> crossed;           // bytes x links that each byte crosses, by link
  fabric::ByTier<std::uint32_t> spread;  // by tier: domains that the most spread group uses
  // Femtoseconds of the slowest group: bytesPerGPU x the slowest link + messages x the longest
  // latency.
  Int128 slowest = 0;
  bool sends = false;
};

// Adds up, family by family, the bytes of every sender, receiver and link for the scores.
//
// Cost  O(seats of all families x tiers); seats squared for all-to-all groups if the pair cost is
//       not hierarchical.
class Tally {
 public:
  Tally(const PairCost& pair_cost, const traffic::Traffic& traffic, const Seating& seating);

  const AxisTally& axis(int index) const { return axes_[static_cast<std::size_t>(index)]; }
  // Bytes that leave each used domain of a tier, by seat, for the tiers from 1 to `last`.
  fabric::ByTier<std::vector<Int128>> LeavingBytes(fabric::Tier last) const;

 private:
  // Groups whose ranks are in the same workers.
  struct Batch {
    std::span<const traffic::Seat> seats;
    std::uint32_t ranks = 0;  // in one group
    Int128 groups = 0;
  };

  void FindLatencies();
  LinkIndex LinkOf(WorkerIndex a, WorkerIndex b) const;
  std::int64_t LinkWeight(LinkIndex link, WorkerIndex a, WorkerIndex b) const;
  void Send(WorkerIndex from, WorkerIndex to, Int128 bytes);
  void SendOver(LinkIndex link, WorkerIndex from, WorkerIndex to, Int128 bytes);

  void Add(const traffic::GroupFamily& family, const traffic::SeatedGroups& seated);
  void AddRing(const Batch& batch, Int128 amount);
  void AddNeighbours(const Batch& batch, const traffic::GroupFamily& family);
  void AddAllToAll(const Batch& batch, Int128 amount);
  void AddAllToAllByTier(const Batch& batch, Int128 amount);
  void AddSpread(const Batch& batch);

  const PairCost& pair_cost_;
  const Seating& seating_;
  LinkIndex links_;                   // the tiers and the networks beside them
  std::vector<std::int64_t> weight_;  // by tier; only if the pair cost is hierarchical
  std::vector<Int128> sent_;          // worker x link, all axes
  std::array<AxisTally, traffic::kAxisCount> axes_;
  AxisTally* axis_ = nullptr;                           // of the family being added
  std::vector<std::int64_t> latency_;                   // femtoseconds, by link
  std::int64_t slowest_link_ = 0;                       // of the family being added
  std::int64_t longest_latency_ = 0;                    // of the family's links
  fabric::ByTier<std::vector<std::uint32_t>> members_;  // scratch: members of a group, tier x seat
  fabric::ByTier<std::vector<std::uint32_t>> seen_in_;  // last batch that used one, tier x seat
  fabric::ByTier<std::uint32_t> touched_;               // scratch: domains of a group, by tier
  std::uint32_t batch_number_ = 0;
};

}  // namespace weft::objective
