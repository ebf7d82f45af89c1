#pragma once

#include <functional>
#include <optional>
#include <string>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// The state of a node that a pod is bound to, or placed on.
struct NodeState {
  bool exists = true;
  std::optional<UnixSeconds> not_ready_since;  // as seen by this operator
};
using NodeStates = std::function<NodeState(const std::string& node)>;

// The clock, and how long a node may be not Ready before it is lost.
struct LossTimes {
  UnixSeconds now = 0;
  std::int64_t node_loss_seconds = 60;
};

bool IsLost(const NodeState& state, const LossTimes& times);

// When a pod that is being deleted can no longer run or come back, though nobody confirms it: past
// its grace period, on a node that is lost by then. Nothing where its kubelet will confirm it.
std::optional<UnixSeconds> GoneAt(const api::Pod& pod, const NodeState& state,
                                  const LossTimes& times);

}  // namespace weft::life
