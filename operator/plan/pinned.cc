#include "operator/plan/pinned.h"

#include <algorithm>
#include <functional>

#include "operator/base/check.h"
#include "operator/cluster/pod_labels.h"
#include "operator/cluster/worker_order.h"
#include "operator/fabric/node_facts.h"

namespace weft::plan {
namespace {

// The pods that wait for the Placement alone.
std::vector<const api::Pod*> GatedPods(const api::Inputs& inputs, const api::Placement& placement) {
  std::vector<const api::Pod*> gated;
  for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
    const api::Pod& pod = inputs.pods[p];
    if (pod.meta.key.space != placement.meta.key.space || pod.meta.deleting) continue;
    if (!pod.node_name.empty() || !cluster::IsGated(pod)) continue;
    if (cluster::Selects(placement, pod)) gated.push_back(&pod);
  }
  return gated;
}

const std::string* HostOf(const api::Pod& pod) {
  const auto host = pod.pod.node_selector.find(fabric::kHostNameLabel);
  return host == pod.pod.node_selector.end() ? nullptr : &host->second;
}

}  // namespace

Result<std::vector<std::string>> PinnedHosts(const api::Inputs& inputs,
                                             const cluster::Workload& workload) {
  std::vector<std::string> hosts;
  if (workload.is_job) return hosts;
  WEFT_CHECK(workload.index < inputs.placements.size());
  if (!inputs.placements[workload.index].pod_selector) return hosts;
  const api::Placement& placement = inputs.placements[workload.index];
  const std::vector<const api::Pod*> gated = GatedPods(inputs, placement);
  const auto pinned =
      std::find_if(gated.begin(), gated.end(), [](auto* pod) { return HostOf(*pod); });
  if (pinned == gated.end()) return hosts;
  const auto free =
      std::find_if(gated.begin(), gated.end(), [](auto* pod) { return !HostOf(*pod); });
  if (free != gated.end()) {
    return Invalid("pod " + (*pinned)->meta.key.name + " is pinned to a node by its nodeSelector " +
                   fabric::kHostNameLabel + ", but pod " + (*free)->meta.key.name + " is not");
  }
  const auto assigned = cluster::AssignWorkers(
      placement, gated, std::vector<const api::Pod*>(placement.workers, nullptr));
  if (!assigned) return assigned.error();
  for (const cluster::WorkerPod& one : *assigned) hosts.push_back(*HostOf(*one.pod));
  if (std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) == hosts.end()) {
    hosts.clear();
  }
  return hosts;
}

}  // namespace weft::plan
