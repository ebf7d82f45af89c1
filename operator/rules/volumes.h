#pragma once

#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/apart.h"
#include "operator/rules/slot_query.h"
#include "operator/rules/worker_rules.h"

namespace weft::rules {

// What the volumes of a pod (volume_rules.h) leave of the slots.

// The first entry of the pod's VolumeRules::places that the node misses, or null.
// `labels_may_come`: labels that the node lacks count as right, as its CSI driver may not have
// registered there yet.
const VolumeRules::Place* MissedPlace(const PodRequirements& pod, const fabric::NodeFacts& node,
                                      bool labels_may_come = false);

// Whether there are rules beside those that MissedPlace checks.
bool LooksAtVolumes(const SlotQuery& query);

// Takes the slots that VolumeRules::blocked, ReadWriteOncePod and the limits of CSI drivers forbid.
// `pods`: that run on nodes of the fabric, `elsewhere` on others; empty with
// SlotQuery::ignore_claims, which also lifts `blocked`.
//
// Cost  O(nodes x attached drivers + pods x their volumes).
void KeepToVolumes(const SlotQuery& query, const fabric::Fabric& fabric,
                   const std::vector<fabric::Claims::PodOn>& pods,
                   const fabric::Elsewhere::View& elsewhere, SlotTaker& taker);

// The same for claims without a volume. Workers that share such a claim keep the nodes of one
// volume, with the most slots: the first worker binds it. With `rules`, the nodes of each volume
// are a domain of a rule there instead. With a claim for each worker, the roomiest nodes get the
// free volumes.
//
// Cost  O(nodes x (volumes of any node + those of this node)). Nothing with ignore_claims.
void KeepToUnbound(const SlotQuery& query, const fabric::Fabric& fabric, SlotTaker& taker,
                   WorkerRules* rules);

// As BetweenWorkersText, for a claim that only one worker can use, and for claims without volumes;
// "" if there are none.
std::string SoleVolumeText(const SlotQuery& query);
std::string UnboundVolumesText(const SlotQuery& query);

}  // namespace weft::rules
