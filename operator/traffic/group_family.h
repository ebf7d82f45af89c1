#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "operator/traffic/axis.h"
#include "operator/traffic/ranks.h"

namespace weft::traffic {

// How the ranks of one group communicate.
enum class Pattern : std::uint8_t {
  kRing,        // member k sends to member k + 1, the last to the first
  kNeighbours,  // member k exchanges with members k - 1 and k + 1 (pipeline stages)
  kAllToAll,    // each member sends the same amount to every other member
};

// One family of groups of one axis. An axis may have two families (dense and expert gradients).
//
// Shapes   members: groups x group_size ranks, group-major, in ring or stage order; each rank of
//          the world appears at most once. Families with group_size 1 are left out.
// Units    bytes that one rank sends in one direction in one optimizer step.
struct GroupFamily {
  Axis axis = Axis::kTensor;
  Pattern pattern = Pattern::kRing;
  std::uint32_t group_size = 0;
  Ranks members;

  // Bytes that a member sends to the next one (kRing), that it sends to each other member
  // (kAllToAll, rounded per peer), or that cross the boundary of two stages each way (kNeighbours).
  std::int64_t amount = 0;
  // kNeighbours only: bytes between the last and the first member, each way (virtual pipeline).
  // With two stages, whose neighbours are also the ends, `amount` holds both and this is 0.
  std::int64_t wrap_amount = 0;
  // kNeighbours only: bytes that the first and the last member send to their one neighbour. Twice
  // `amount` for Measured, as a measured figure is per GPU; `amount` for a Transformer.
  std::int64_t end_amount = 0;
  // Messages that one member sends in sequence in a step (messages.h), for the latency.
  std::int64_t messages = 0;

  std::size_t groups() const { return group_size == 0 ? 0 : members.size() / group_size; }
  std::span<const RankIndex> group(std::size_t g) const {
    return std::span(members).subspan(g * group_size, group_size);
  }
};

}  // namespace weft::traffic
