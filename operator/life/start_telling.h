#pragma once

#include <cstdint>
#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// While a gang that is bound starts (Stage::kStarting), its condition PodsReady says why workers
// wait at their kubelets (kubelet_wait.h), or that the node of one is not Ready (unready_node.h).

// Since when the kubelets have said something else than the condition, for JobView::start_differs:
// `known` was it at the last look. 0: they say the same.
UnixSeconds StartDiffersSince(const JobView& view, const LifeOptions& options, UnixSeconds known);

// Writes into life.status what the kubelets say: at once if the condition has said nothing yet;
// else after they have differed from it for a while (JobView::start_differs), because a container
// that starts and ends again and again waits and runs by turns, and workers come to the same end
// one after the other. Returns in how many seconds to look again.
std::optional<std::int64_t> TellStart(Life& life);

}  // namespace weft::life
