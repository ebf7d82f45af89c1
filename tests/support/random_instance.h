#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/place.h"
#include "operator/traffic/worker_graph.h"

namespace weft::testing {

// One random placement problem, small enough to try every answer: an irregular tree, part-used
// nodes, a random mix of axes, several workers a node, and sometimes a scale-up network (nested or
// crossing), required, preferred and groups.
struct RandomInstance {
  std::unique_ptr<fabric::Fabric> fabric;
  std::unique_ptr<fabric::Claims> claims;
  traffic::Traffic traffic;
  std::unique_ptr<traffic::WorkerGraph> graph;
  objective::Request request;
  std::string what;  // for failure messages
};

struct RandomOptions {
  std::uint32_t most_nodes = 6;
  std::uint32_t most_workers = 5;
  bool constraints = true;  // required, preferred, groups
  bool crossing = true;     // scale-up domains that cross the levels
  std::uint32_t fewest_workers = 2;
  bool only_data = false;  // one ring of data parallelism, measured
  bool planes = false;     // one or two networks whose domains have nothing to do with the levels
  bool flat = false;       // the links of all levels are equally fast
  bool torus = false;      // nodes stand in a torus or mesh of any shape, or in one for each spine
};

// A tier in [low, high].
template <typename Draws>
fabric::Tier TierBetween(Draws& random, fabric::Tier low, fabric::Tier high) {
  return fabric::Tier{random.Between(low.Raw(), high.Raw())};
}

RandomInstance MakeRandomInstance(std::uint64_t seed, const RandomOptions& options);

}  // namespace weft::testing
