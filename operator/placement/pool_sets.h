#pragma once

#include <cstdint>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"

namespace weft::placement {

using RoomByPool = IndexVector<fabric::PoolIndex, std::uint64_t>;

// At least as many of the request's workers as fit on each pool: without rules of topology, between
// pods and of power, which depend on the pools that are used together.
// Cost  like CountSlotsByNode.
RoomByPool CountRoom(const fabric::Claims& claims, const objective::Request& request,
                     const objective::Options& options);

// For each of the request's choices of pools, how many workers fit: of a choice that keeps to one
// pool, on the pool with the most room.
std::vector<PoolRoom> RoomsOf(const objective::Request& request, const RoomByPool& room);

// The pools on which a gang of the choice is tried together, one set after the other: all of them,
// or for a choice that keeps to one pool each that has room for all workers: first those of the
// last attempt, then those with the least room, which leave the large ones whole.
struct PoolSets {
  std::vector<std::vector<fabric::PoolIndex>> sets;
  bool all = true;  // false: only the first of many pools, which are alike
};
PoolSets PoolSetsOf(const fabric::Fabric& fabric, const objective::Request& request,
                    const objective::PoolChoice& choice, const RoomByPool& room);

}  // namespace weft::placement
