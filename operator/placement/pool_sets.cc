#include "operator/placement/pool_sets.h"

#include <algorithm>
#include <set>

#include "operator/base/check.h"
#include "operator/rules/node_filter.h"

namespace weft::placement {

using fabric::PoolIndex;

namespace {

// Each costs O(nodes), and a cluster may have tens of thousands of TPU slices, which are alike.
constexpr std::size_t kPoolsTried = 16;

std::set<PoolIndex> PreviousPools(const fabric::Fabric& fabric, const objective::Request& request) {
  std::set<PoolIndex> pools;
  for (const fabric::NodeIndex n : request.previous_nodes) {
    if (n != objective::kUnplaced) pools.insert(fabric.pool(n));
  }
  return pools;
}

}  // namespace

RoomByPool CountRoom(const fabric::Claims& claims, const objective::Request& request,
                     const objective::Options& options) {
  const rules::SlotQuery query = {.pod = &request.pod,
                                  .job = request.job,
                                  .excluded = request.excluded,
                                  .cap = request.workers,
                                  .ignore_claims = options.ignore_claims,
                                  .ignore_health = options.ignore_health};
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlotsByNode(claims, query, slots);
  RoomByPool room(claims.fabric().pools().EndIndex(), 0);
  for (const fabric::NodeIndex n : slots.Indices()) {
    WEFT_DCHECK(claims.fabric().pool(n) < room.EndIndex());
    room[claims.fabric().pool(n)] += slots[n];
  }
  return room;
}

std::vector<PoolRoom> RoomsOf(const objective::Request& request, const RoomByPool& room) {
  std::vector<PoolRoom> rooms;
  for (const objective::PoolChoice& choice : *request.pool_choices) {
    PoolRoom of{choice.name};
    for (PoolIndex pool : choice.pools) {
      of.workers = choice.one_pool ? std::max(of.workers, room[pool]) : of.workers + room[pool];
    }
    rooms.push_back(std::move(of));
  }
  return rooms;
}

PoolSets PoolSetsOf(const fabric::Fabric& fabric, const objective::Request& request,
                    const objective::PoolChoice& choice, const RoomByPool& room) {
  if (!choice.one_pool) return {{choice.pools}};
  std::vector<PoolIndex> pools;
  for (PoolIndex pool : choice.pools) {
    if (room[pool] >= request.workers) pools.push_back(pool);
  }
  const std::set<PoolIndex> previous = PreviousPools(fabric, request);
  std::stable_sort(pools.begin(), pools.end(), [&](PoolIndex a, PoolIndex b) {
    if (previous.contains(a) != previous.contains(b)) return previous.contains(a);
    return room[a] < room[b];
  });
  PoolSets tried;
  tried.all = pools.size() <= kPoolsTried;
  pools.resize(std::min(pools.size(), kPoolsTried), PoolIndex{0});
  for (PoolIndex pool : pools) tried.sets.push_back({pool});
  return tried;
}

}  // namespace weft::placement
