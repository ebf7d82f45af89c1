#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// The state of a node that has a pod or is to get one.
struct NodeState {
  bool exists = true;
  std::optional<UnixSeconds> not_ready_since;  // as seen by this operator
  // When it stopped to be Ready, as its condition says; 0: it is Ready, or does not say.
  UnixSeconds unready_since = 0;
  // A condition of a health monitor, such as "GpuXidError=True", and since when the node has it.
  struct Fault {
    std::string condition;
    UnixSeconds since = 0;
  };
  std::vector<Fault> faults = {};
  bool monitored = false;  // a monitor of GPUs reports conditions of the node
  UnixSeconds made = 0;    // its creationTimestamp; 0 if unknown
};
using NodeStates = std::function<NodeState(const std::string& node)>;

// The time now, and how long a node may be not Ready before it counts as lost.
struct LossTimes {
  UnixSeconds now = 0;
  std::int64_t node_loss_seconds = 60;
};

bool IsLost(const NodeState& state, const LossTimes& times);

// Whether the node was made again under its name since the pod was created for it (machine.h): the
// pod ran on an earlier machine.
bool IsMadeAgain(const NodeState& state, const api::Pod& pod);

// The time from which a pod that is being deleted is certainly gone without its kubelet's
// confirmation: its grace period is over and its node is lost. Nothing if the kubelet will confirm
// the pod's end.
std::optional<UnixSeconds> GoneAt(const api::Pod& pod, const NodeState& state,
                                  const LossTimes& times);

// Whether the pod may still use its node. A pod that is being deleted on a lost node never ends by
// itself; `left` is the time until it counts as gone, where that is known.
struct Running {
  bool may_run = false;
  std::optional<std::int64_t> left;
};
Running MayRun(const api::Pod& pod, const NodeState& state, const LossTimes& times);

}  // namespace weft::life
