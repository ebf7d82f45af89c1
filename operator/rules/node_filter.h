#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// How many more workers with these requirements each node can take.
//
// Shapes   slots: at most `cap`; 0 if the node is filtered out. A worker also
//          uses one of the node's pods, unless no node of the fabric lists the resource `pods`. If
//          no node offers a requested resource, all slots are 0. Rules between pods
//          (between_pods.h) and power limits of levels (power.h) take slots away.
// Cost     O(nodes x requested resources); taints, cordons and usability are evaluated once per
//          distinct combination, label rules only on nodes that have room.
void CountSlots(const fabric::Claims& claims, const SlotQuery& query,
                fabric::ByNode<std::uint32_t>& slots);
// The same for each node by itself: without the rules between pods and the power limits.
void CountSlotsByNode(const fabric::Claims& claims, const SlotQuery& query,
                      fabric::ByNode<std::uint32_t>& slots);
// The same for these nodes only; `slots` has an entry for every node, and the others stay.
void CountSlotsOf(const fabric::Claims& claims, const SlotQuery& query,
                  std::span<const fabric::NodeIndex> nodes, fabric::ByNode<std::uint32_t>& slots);

}  // namespace weft::rules
