#include "operator/plan/pinned.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "operator/base/check.h"
#include "operator/cluster/gang_members.h"
#include "operator/cluster/worker_order.h"
#include "operator/fabric/node_facts.h"

namespace weft::plan {
namespace {

// The pods that the Placement selects.
std::vector<const api::Pod*> SelectedPods(const api::Inputs& inputs,
                                          const api::Placement& placement) {
  std::vector<const api::Pod*> pods;
  for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
    const api::Pod& pod = inputs.pods[p];
    if (pod.meta.key.space == placement.meta.key.space && cluster::Selects(placement, pod)) {
      pods.push_back(&pod);
    }
  }
  cluster::KeepPresent(placement, pods,
                       [](const api::Pod* pod) -> const api::Pod& { return *pod; });
  return pods;
}

// Whether the pod waits for the Placement alone.
bool WaitsForNodes(const api::Pod& pod) {
  return !pod.meta.deleting && pod.node_name.empty() && cluster::IsGated(pod);
}

const std::string* HostOf(const api::Pod& pod) {
  const auto host = pod.pod.node_selector.find(fabric::kHostNameLabel);
  return host == pod.pod.node_selector.end() ? nullptr : &host->second;
}

}  // namespace

Result<ByWorker<std::string>> PinnedHosts(const api::Inputs& inputs,
                                          const cluster::WorkloadView& workload) {
  ByWorker<std::string> hosts;
  if (workload.is_job) return hosts;
  WEFT_CHECK(workload.index < inputs.placements.size());
  if (!inputs.placements[workload.index].pod_selector) return hosts;
  const api::Placement& placement = inputs.placements[workload.index];
  const std::vector<const api::Pod*> pods = SelectedPods(inputs, placement);
  std::vector<const api::Pod*> gated;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(gated),
               [](const api::Pod* pod) { return WaitsForNodes(*pod); });
  const auto pinned =
      std::find_if(gated.begin(), gated.end(), [](auto* pod) { return HostOf(*pod); });
  if (pinned == gated.end()) return hosts;
  const auto free =
      std::find_if(gated.begin(), gated.end(), [](auto* pod) { return !HostOf(*pod); });
  if (free != gated.end()) {
    return Invalid("pod " + (*pinned)->meta.key.name + " is pinned to a node by its nodeSelector " +
                   fabric::kHostNameLabel + ", but pod " + (*free)->meta.key.name + " is not");
  }
  const auto done = cluster::DoneWorkers(placement, placement.workers, pods, gated, 0);
  const auto assigned = cluster::AssignWorkers(placement, gated, done);
  if (!assigned) return assigned.error();
  hosts.resize(placement.workers);
  bool gone = false;
  for (const WorkerIndex w : done.Indices()) {
    if (done[w] == nullptr) continue;
    const std::string* host = HostOf(*done[w]);
    hosts[w] = host != nullptr ? *host : done[w]->node_name;
    if (hosts[w].empty()) {  // its pod is gone: any will do
      hosts[w] = *HostOf(**pinned);
      gone = true;
    }
  }
  for (const cluster::WorkerPod& one : *assigned) {
    WEFT_CHECK(one.worker < hosts.EndIndex() && hosts[one.worker].empty());  // a pod a worker
    hosts[one.worker] = *HostOf(*one.pod);
  }
  // The pods of a Workload of Kueue may come one by one: the others may be pinned elsewhere.
  if (std::find(hosts.begin(), hosts.end(), "") != hosts.end()) hosts.clear();
  const bool alike =
      std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) == hosts.end();
  if (alike && !gone) {
    hosts.clear();
  }
  return hosts;
}

}  // namespace weft::plan
