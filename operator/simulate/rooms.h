#pragma once

#include <cstdint>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/node_rules.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

// How many workers of each shape the nodes have room for, kept up to date as claims change: a shape
// with less room than workers fits nowhere, and no search is needed to know that.
//
// How   Counts as rules::CountSlotsByNode, but without ComputeDomains and power limits, so it
//       may count too much, never too little. Shapes with equal pods share one count.
// Cost  O(nodes) for each kind of pod to make; O(kinds of pods) for each changed node.
class Rooms {
 public:
  Rooms(const Scenario& scenario, const fabric::Claims& claims);

  void Update(const fabric::Claims& claims, fabric::NodeIndex node);
  std::uint64_t total(std::uint32_t shape) const { return kinds_[kind_[shape]].total; }
  std::uint32_t On(std::uint32_t shape, const fabric::Claims& claims,
                   fabric::NodeIndex node) const {
    return Count(kinds_[kind_[shape]], claims, node);
  }

 private:
  struct Kind {
    const rules::PodRequirements* pod = nullptr;
    std::vector<rules::Want> wants;
    fabric::ByNode<std::uint32_t> most;   // with nothing else on the node
    fabric::ByNode<std::uint32_t> slots;  // now
    std::uint64_t total = 0;
  };
  static std::uint32_t Count(const Kind& kind, const fabric::Claims& claims,
                             fabric::NodeIndex node);

  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_;  // by shape
};

}  // namespace weft::simulate
