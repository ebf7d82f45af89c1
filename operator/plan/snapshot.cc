#include "operator/plan/snapshot.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/api/encode.h"
#include "operator/cluster/devices.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/worker_order.h"
#include "operator/plan/snapshot_objects.h"
#include "operator/plan/snapshot_volumes.h"
#include "operator/predict/learned.h"

namespace weft::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;

class Writer {
 public:
  explicit Writer(const cluster::Cluster& cluster)
      : cluster_(cluster), inputs_(*cluster.inputs), pods_(inputs_) {}

  Result<SnapshotObjects> Run(cluster::Order order, cluster::Mark mark) {
    Result<std::vector<cluster::WorkloadView>> pending =
        cluster::PendingWorkloads(cluster_, order, mark);
    if (!pending) return pending.error();
    Fabrics();
    for (const api::Namespace& space : inputs_.namespaces) {
      if (space.meta.labels.contains(api::kDefaultFabricLabel)) {
        out_.push_back(NamespaceObject(space));
      }
    }
    for (const api::PriorityClass& one : inputs_.priority_classes) {
      out_.push_back(PriorityClassObject(one));
    }
    const predict::LearnedScalars learned = predict::LearnedScalars::From(inputs_);
    if (!learned.entries().empty()) out_.push_back(LearnedStepsObject(inputs_, learned));
    for (const api::Node& node : cluster::NodesWithDevices(inputs_))
      out_.push_back(NodeObject(node));
    for (OrderedJson& object : VolumeObjects(inputs_)) out_.push_back(std::move(object));
    Pods();
    Assumed();
    WithNodes(*pending);
    for (const cluster::WorkloadView& workload : *pending) Pending(workload);
    return SnapshotObjects{std::move(out_), std::move(left_out_)};
  }

 private:
  // A recognised fabric is written out, so that the answer no longer depends on the recognition.
  // Only by its preset can it say that its levels part TPU slices.
  void Fabrics() {
    for (const cluster::ClusterFabric& on : cluster_.fabrics) {
      if (!on.recognised) continue;
      api::Fabric fabric;
      fabric.meta.key.name = on.name();
      fabric.spec = on.fabric->spec();
      const bool parts_slices = std::any_of(fabric.spec.levels.begin(), fabric.spec.levels.end(),
                                            [](const auto& one) { return one.parts_tpu_slices; });
      fabric.spec.preset = parts_slices ? "CloudTPU" : "";
      out_.push_back(api::EncodeFabric(fabric));
    }
    for (const api::Fabric& given : inputs_.fabrics) {
      api::Fabric fabric;
      fabric.meta.key.name = given.meta.key.name;
      fabric.spec = given.spec;
      out_.push_back(api::EncodeFabric(fabric));
    }
  }

  // Pods that hold a node, have room kept on one or wait at Weft's gate. A finished pod is kept if
  // it is a worker of a Placement, because that worker would otherwise count again.
  void Pods() {
    std::set<std::size_t> of_placements;
    for (const api::Placement& placement : inputs_.placements) {
      if (placement.nodes.empty()) continue;
      for (const std::size_t p : pods_.PodsOf(placement)) of_placements.insert(p);
    }
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) {
      const api::Pod& pod = inputs_.pods[p];
      const bool counts = pod.Holds() || !pod.nominated_node.empty() || cluster::HasGate(pod);
      if (!counts && !of_placements.contains(p)) continue;
      out_.push_back(PodObject(pod));
    }
  }

  // Workloads that have nodes, are suspended or have finished: they are not decided, but claims
  // depend on them.
  void WithNodes(const std::vector<cluster::WorkloadView>& pending) {
    std::set<std::pair<bool, std::size_t>> waiting;
    for (const cluster::WorkloadView& workload : pending)
      waiting.insert({workload.is_job, workload.index});
    for (const auto& entry : inputs_.order) {
      if (waiting.contains({entry.is_job, entry.index})) continue;
      if (LeftOut(entry)) continue;
      out_.push_back(entry.is_job ? JobObject(inputs_.jobs[entry.index])
                                  : PlacementObject(inputs_.placements[entry.index]));
    }
  }

  // Whether the object is left out, because its spec cannot be read and so cannot be written.
  bool LeftOut(const api::Inputs::OrderEntry& entry) {
    const auto unreadable = [this](const auto& object) {
      if (object.unreadable.empty()) return false;
      left_out_.push_back(object.place + ": " + object.unreadable);
      return true;
    };
    return entry.is_job ? unreadable(inputs_.jobs[entry.index])
                        : unreadable(inputs_.placements[entry.index]);
  }

  void Pending(const cluster::WorkloadView& workload) {
    if (!workload.invalid.empty()) return left_out_.push_back(workload.invalid);
    OrderedJson object = workload.is_job ? JobObject(inputs_.jobs[workload.index])
                                         : PlacementObject(inputs_.placements[workload.index]);
    out_.push_back(std::move(object));
  }

  // Workers that have a node but no pod among the inputs.
  void Assumed() {
    for (const cluster::ClusterFabric& on : cluster_.fabrics) {
      for (const cluster::Holder& holder : on.holders) {
        if (holder.kind != "TrainingJob") continue;
        for (const cluster::Holding& holding : holder.holdings) {
          if (holding.assumed) out_.push_back(AssumedPod(on, holder, holding));
        }
      }
    }
  }

  static OrderedJson AssumedPod(const cluster::ClusterFabric& on, const cluster::Holder& holder,
                                const cluster::Holding& holding) {
    api::Pod pod;
    const std::string worker = std::to_string(holding.assumed->worker.Raw());
    pod.meta.key = {holder.key.space, holding.assumed->placement + "-" + worker};
    pod.meta.labels = {{api::kJobNameLabel, holder.key.name}, {cluster::kWorkerIndexLabel, worker}};
    if (const auto& number = holding.assumed->attempt) {
      pod.meta.labels.Set(cluster::kAttemptLabel, std::to_string(*number));
    }
    pod.node_name = on.fabric->node(holding.node).name;
    pod.phase = api::PodPhase::kPending;
    pod.pod.requests = *holding.amounts;
    pod.pod.claims_compute_domain = !holding.compute_domain.empty();
    return PodObject(pod);
  }

  const cluster::Cluster& cluster_;
  const api::Inputs& inputs_;
  cluster::PlacementPods pods_;
  std::vector<OrderedJson> out_;
  std::vector<std::string> left_out_;
};

}  // namespace

Result<SnapshotObjects> Snapshot(const cluster::Cluster& cluster, cluster::Order order,
                                 cluster::Mark mark) {
  return Writer(cluster).Run(order, mark);
}

}  // namespace weft::plan
