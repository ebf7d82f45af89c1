#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/decide/cluster.h"

namespace weft::report {

enum class NodeUse : std::uint8_t { kFree, kPartial, kFull, kCordoned, kUnusable };
inline constexpr std::size_t kNodeUses = 5;
std::string_view NodeUseName(NodeUse use);  // "free", "partial", ...

// Free: usable, not cordoned, no accelerator in use.
NodeUse UseOf(const decide::ClusterFabric& on, fabric::NodeIndex node);

// Free capacity of one fabric for jobs of whole nodes.
struct FleetFigures {
  struct Accelerators {
    std::int64_t used = 0, free = 0;
    std::int64_t unavailable = 0;  // free, on nodes that are cordoned or unusable
  };
  // Disjoint sets of this many wholly free nodes of one pool, each set inside one domain.
  struct Slots {
    std::string product;        // of all its nodes; they are of one capacity type too
    std::int64_t nodes = 1;     // of one slot: 1, 2, 4, ...
    std::int64_t free = 0;      // slots
    std::int64_t stranded = 0;  // accelerators that are free, but in no slot of that size
  };
  struct Domain {
    std::string name;
    std::int64_t nodes = 0, free_nodes = 0;
  };
  struct Level {
    std::string name;
    std::int64_t domains = 0;
    std::int64_t largest_free_block = 0;  // free nodes of the domain that has most
    std::vector<Slots> slots;             // by product, then size, up to the largest domain
    std::vector<Domain> each;             // of levels with few domains
  };

  std::array<std::int64_t, kNodeUses> nodes{};  // by NodeUse
  std::map<std::pair<std::string, std::string>, Accelerators>
      accelerators;           // by resource and product, "" where no label names one
  std::vector<Level> levels;  // outside and the node too, widest first
};

// `most_domains`: domains are listed of levels that have no more; never of the node.
// Cost  O(nodes x (tiers + resources) + domains x log nodes).
FleetFigures MeasureFleet(const decide::ClusterFabric& on, std::uint32_t most_domains);

}  // namespace weft::report
