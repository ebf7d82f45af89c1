#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::bound {

// One level of nested domains; a nest lists its levels narrowest first. `step` is the least cost of
// a byte between two domains of the level, on top of the steps of narrower levels. If `of_node` is
// null, every node is a domain. `in_tree`: the domains are those of `tier`, so they are runs of
// nodes.
struct Level {
  fabric::Tier tier{0};
  std::int64_t step = 0;
  const fabric::ByNode<fabric::DomainIndex>* of_node = nullptr;
  std::uint32_t domains = 0;
  bool in_tree = false;

  fabric::DomainIndex Of(fabric::NodeIndex n) const {
    return of_node == nullptr ? AsDomain(n) : (*of_node)[n];
  }
};
using Nest = std::vector<Level>;

// The nest of the fabric's levels. The result points into the fabric.
Nest NestOfLevels(const objective::Instance& instance);

// The nest of the planes: the levels that are no dearer than the cheapest plane, then groups of
// domains that planes connect, then the other levels, where domains that planes connect are merged.
class PlaneNest {
 public:
  // Returns nothing if no plane is cheaper than the widest level, or if there is a torus.
  static std::optional<PlaneNest> Of(const objective::Instance& instance);
  const Nest& nest() const { return nest_; }

 private:
  PlaneNest() = default;

  std::vector<std::unique_ptr<fabric::ByNode<fabric::DomainIndex>>> of_node_;
  Nest nest_;  // points into of_node_
};

// A run of consecutive nodes that may hold the whole job.
struct Run {
  fabric::NodeIndex begin{0}, end{0};
};

// One run for each domain of tier `home` with room for the job; one run of all nodes if there are
// many of these domains.
std::vector<Run> Homes(const objective::Instance& instance, fabric::Tier home);

// The slots in each domain of a level, counting only nodes of the run. slots[0] is domain `first`;
// domains beyond the ends of the list have no node in the run.
struct SlotsOfLevel {
  fabric::DomainIndex first{0};
  std::vector<std::uint64_t> slots;
};
SlotsOfLevel SlotsIn(const objective::Instance& instance, const Level& level, Run run);

}  // namespace weft::bound
