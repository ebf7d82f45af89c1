#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/cluster/cluster.h"

namespace weft::report {

enum class NodeUse : std::uint8_t { kFree, kPartial, kFull, kCordoned, kUnusable };
inline constexpr std::size_t kNodeUses = 5;
std::string_view NodeUseName(NodeUse use);  // "free", "partial", ...

// A node is free if it is usable and not cordoned and no accelerator of it is in use.
NodeUse UseOf(const cluster::ClusterFabric& on, fabric::NodeIndex node);

// The free capacity of one fabric, and how much of it jobs of whole nodes can use.
struct FleetFigures {
  struct Accelerators {
    std::int64_t used = 0, free = 0;
    std::int64_t unavailable = 0;  // not in use, but on nodes that are cordoned or unusable
  };
  // Disjoint sets of this many wholly free nodes of one pool, each set inside one domain.
  struct Slots {
    // Of all nodes of a slot, which also share a capacity type: what their accelerators are
    // (Pool::UnitOf), of nodes with several kinds the product.
    std::string product;
    std::int64_t nodes = 1;     // in one slot: 1, 2, 4, ...
    std::int64_t free = 0;      // how many slots
    std::int64_t stranded = 0;  // free accelerators in no slot of this size
  };
  struct Domain {
    std::string name;
    std::int64_t nodes = 0, free_nodes = 0;
  };
  struct Level {
    std::string name;
    std::int64_t domains = 0;
    std::int64_t largest_free_block = 0;  // most free nodes in one domain
    std::vector<Slots> slots;             // by product, then size, up to the largest domain
    std::vector<Domain> each;             // only for levels with few domains
  };

  std::array<std::int64_t, kNodeUses> nodes{};  // by NodeUse
  std::map<std::pair<std::string, std::string>, Accelerators>
      accelerators;           // by resource and what one of it is (Pool::UnitOf); "" if unknown
  std::vector<Level> levels;  // widest first, with outside and the node
};

// `most_domains`: only levels with at most this many domains list them; the node tier never does.
// Cost  O(nodes x (tiers + resources) + domains x log nodes).
FleetFigures MeasureFleet(const cluster::ClusterFabric& on, std::uint32_t most_domains);

}  // namespace weft::report
