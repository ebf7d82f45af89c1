#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/base/worker_index.h"
#include "operator/life/job_view.h"

namespace weft::life {

// A node of a running worker that is not Ready, but not lost yet.
struct UnreadyNode {
  WorkerIndex worker;  // the first on the node
  std::string node;
  UnixSeconds since = 0;  // as the node's condition says, else as seen by this operator
  UnixSeconds lost = 0;   // when it counts as lost
  bool operator==(const UnreadyNode&) const = default;
};

// The first node to be lost among those of pods that have not ended; of several, that of the first
// worker. It stays the same while that node is not Ready, whatever becomes of others.
std::optional<UnreadyNode> FirstUnready(const std::vector<const api::Pod*>& pods,
                                        const NodeStates& node_state, const LifeOptions& options);

// "worker 1 on real-2: the node is not Ready since 2026-11-28T10:00:12Z; the attempt ends at
// 2026-11-28T10:01:12Z unless it is Ready before", in the form of kubelet_wait.h.
std::string UnreadyText(const UnreadyNode& node);

}  // namespace weft::life
