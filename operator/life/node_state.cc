#include "operator/life/node_state.h"

#include <algorithm>

#include "operator/life/machine.h"
#include "operator/life/retry.h"

namespace weft::life {

bool IsLost(const NodeState& state, const LossTimes& times) {
  return !state.exists ||
         (state.not_ready_since && times.now - *state.not_ready_since >= times.node_loss_seconds);
}

bool IsMadeAgain(const NodeState& state, const api::Pod& pod) {
  if (!state.exists || state.made == 0) return false;
  if (const auto text = pod.meta.annotations.At(kNodeCreatedAnnotation)) {
    // An earlier one is late news of the node before.
    if (const auto made = ParseTime(*text)) return state.made > *made;
  }
  // A pod of an earlier version, whose times two servers' clocks wrote.
  return pod.bound != 0 && state.made > pod.bound + kClockSkewSeconds;
}

std::optional<UnixSeconds> GoneAt(const api::Pod& pod, const NodeState& state,
                                  const LossTimes& times) {
  if (!pod.meta.deleting || pod.node_name.empty()) return std::nullopt;
  if (state.exists && !state.not_ready_since) return std::nullopt;
  const auto grace = ParseTime(pod.meta.deletion_timestamp);
  if (!grace) return std::nullopt;
  if (!state.exists) return *grace;
  return std::max(*grace, *state.not_ready_since + times.node_loss_seconds);
}

Running MayRun(const api::Pod& pod, const NodeState& state, const LossTimes& times) {
  if (pod.HasEnded()) return {};
  const auto gone = GoneAt(pod, state, times);
  if (!gone) return {true, std::nullopt};
  if (*gone <= times.now) return {};
  return {true, *gone - times.now};
}

}  // namespace weft::life
