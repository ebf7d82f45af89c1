#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"
#include "tests/support/large_instance.h"

namespace weft::testing {

// What instances are drawn from. The same seed draws the same everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : numbers_(seed) {}
  std::uint32_t Between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(numbers_.Below(high - low + 1));
  }
  bool Chance(std::uint32_t percent) { return numbers_.Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> from) {
    return from.begin()[numbers_.Below(from.size())];
  }

 private:
  SplitMix64 numbers_;
};

// A cluster of the kind that jobs of a family run on, before its fabric is built.
struct LargeCluster {
  fabric::FabricSpec spec;
  std::vector<fabric::NodeFacts> nodes;
  std::int64_t gpus = 8;     // a node
  std::uint32_t narrow = 1;  // nodes in one rack, leaf or cube
};

// How many GPUs a node has.
std::uint32_t GPUsANode(Family family);

// About `count` nodes; a torus has as many as fill it.
LargeCluster MakeLargeCluster(Draws& random, Family family, std::uint32_t count);

// The GPUs of each node that earlier jobs use: whole domains, runs of nodes, single nodes and parts
// of nodes, until `percent` of all GPUs are in use.
std::vector<std::int64_t> UsedGPUs(Draws& random, const LargeCluster& cluster, Family family,
                                   std::uint32_t percent);

}  // namespace weft::testing
