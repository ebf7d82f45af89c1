#include "operator/life/unready_node.h"

#include <tuple>

#include "operator/base/timestamp.h"
#include "operator/life/attempt_labels.h"

namespace weft::life {

std::optional<UnreadyNode> FirstUnready(const std::vector<const api::Pod*>& pods,
                                        const NodeStates& node_state, const LifeOptions& options) {
  std::optional<UnreadyNode> first;
  for (const api::Pod* pod : pods) {
    if (pod->HasEnded() || pod->node_name.empty()) continue;  // nothing is lost with it
    const auto worker = WorkerLabel(pod->meta);
    const NodeState state = node_state(pod->node_name);
    if (!worker || !state.exists || !state.not_ready_since) continue;
    const UnixSeconds lost = *state.not_ready_since + options.node_loss_seconds;
    if (first && std::tie(first->lost, first->worker) <= std::tie(lost, *worker)) continue;
    const UnixSeconds told = state.unready_since;
    first = {*worker, pod->node_name, told != 0 ? told : *state.not_ready_since, lost};
  }
  return first;
}

std::string UnreadyText(const UnreadyNode& node) {
  return "worker " + std::to_string(node.worker.Raw()) + " on " + node.node +
         ": the node is not Ready since " + FormatTime(node.since) + "; the attempt ends at " +
         FormatTime(node.lost) + " unless it is Ready before";
}

}  // namespace weft::life
