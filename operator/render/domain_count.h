#pragma once

#include <cstdint>
#include <string>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"

namespace weft::render {

// Whether a node takes pods, as texts and pictures show it.
enum class NodeState : std::uint8_t { kTakesPods, kUnusable, kCordoned };
NodeState StateOf(const fabric::Fabric& fabric, fabric::NodeIndex node);
// Accelerators of the node that a pod could get: the unclaimed ones, or 0 if the node takes no
// pods.
std::int64_t FreeOn(const fabric::Claims& claims, fabric::NodeIndex node);

// Contents of one or more domains.
struct DomainCount {
  std::int64_t nodes = 0, accelerators = 0;
  std::int64_t free = 0;                    // accelerators, as in FreeOn
  std::int64_t unusable = 0, cordoned = 0;  // nodes; one that is both counts as unusable

  void Add(const DomainCount& more);
  friend auto operator<=>(const DomainCount&, const DomainCount&) = default;
};

// Cost  O(nodes of the domain).
DomainCount CountIn(const fabric::Claims& claims, fabric::Tier tier, fabric::DomainIndex domain);

// "2 nodes unusable, 1 cordoned", "1 node cordoned"; "" if all nodes take pods.
std::string OffText(const DomainCount& count);

}  // namespace weft::render
