#include "operator/report/waiting_groups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "operator/base/phrases.h"
#include "operator/base/units.h"
#include "operator/cluster/accelerator_resources.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/worker_order.h"
#include "operator/fabric/node_facts.h"

namespace weft::report {
namespace {

// The pods of one PodGroup.
struct GroupPods {
  bool bound = false;   // a pod has a node
  bool placed = false;  // by Weft, or waits for that
  std::int64_t count = 0, accelerators = 0;
  const api::Pod* first = nullptr;
};

class WaitingGroups {
 public:
  explicit WaitingGroups(const api::Inputs& inputs)
      : inputs_(inputs), named_(cluster::NamedAcceleratorResources(inputs).all) {
    for (const api::PriorityClass& one : inputs.priority_classes) {
      priorities_[one.meta.key.name] = one.value;
      if (one.global_default) default_priority_ = one.value;
    }
    const std::set<std::size_t> ours = PodsOfPlacements();
    for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
      const api::Pod& pod = inputs.pods[p];
      if (!pod.pod_group.empty()) Count(pod, ours.contains(p));
    }
  }

  std::vector<QueueRow> Rows() const {
    std::vector<const api::PodGroup*> waiting;
    for (const api::PodGroup& group : inputs_.pod_groups) {
      const GroupPods* pods = PodsOf(group);
      const bool waits = pods != nullptr && !pods->bound && !pods->placed;
      if (!waits || pods->accelerators == 0) continue;
      if (group.min_count > 0 && !group.meta.deleting) waiting.push_back(&group);
    }
    std::sort(waiting.begin(), waiting.end(), [&](const auto* a, const auto* b) {
      return std::tuple(-PriorityOf(*a), a->meta.creation_timestamp, a->meta.key) <
             std::tuple(-PriorityOf(*b), b->meta.creation_timestamp, b->meta.key);
    });
    std::vector<QueueRow> rows;
    for (const api::PodGroup* group : waiting) rows.push_back(RowOf(*group));
    return rows;
  }

 private:
  // Pods for which a Placement stands in the queue, or has nodes.
  std::set<std::size_t> PodsOfPlacements() const {
    const cluster::PlacementPods of_placements(inputs_);
    std::set<std::size_t> ours;
    for (const api::Placement& placement : inputs_.placements) {
      const std::vector<std::size_t> pods = of_placements.PodsOf(placement);
      ours.insert(pods.begin(), pods.end());
    }
    return ours;
  }

  void Count(const api::Pod& pod, bool has_placement) {
    if (pod.HasEnded() || pod.meta.deleting) return;
    GroupPods& group = groups_[{pod.meta.key.space, pod.pod_group}];
    const bool of_job = api::ControllingJob(pod.meta) != nullptr;
    group.placed = group.placed || has_placement || of_job || cluster::HasGate(pod);
    group.bound = group.bound || !pod.node_name.empty();
    ++group.count;
    for (const auto& [name, amount] : pod.pod.requests) {
      if (!fabric::IsAcceleratorResource(name, named_)) continue;
      group.accelerators = SaturatingAdd(group.accelerators, amount);
    }
    if (group.first == nullptr) group.first = &pod;
  }

  const GroupPods* PodsOf(const api::PodGroup& group) const {
    const auto found = groups_.find(group.meta.key);
    return found == groups_.end() ? nullptr : &found->second;
  }

  // kube-scheduler asks that all pods of a group have the same.
  std::int64_t PriorityOf(const api::PodGroup& group) const {
    const std::string& name = PodsOf(group)->first->priority_class_name;
    const auto found = priorities_.find(name);
    if (found != priorities_.end()) return found->second;
    return name.empty() ? default_priority_ : 0;
  }

  QueueRow RowOf(const api::PodGroup& group) const {
    const GroupPods& pods = *PodsOf(group);
    QueueRow row;
    row.key = group.meta.key;
    row.kind = "PodGroup";
    row.priority = PriorityOf(group);
    row.workers = static_cast<std::uint32_t>(std::min<std::int64_t>(pods.count, UINT32_MAX));
    row.accelerators = pods.accelerators;
    if (pods.count < group.min_count) {
      row.reason = "WaitingForPods";
      row.why = CountText(pods.count, "pod") + " of " + std::to_string(group.min_count) +
                (pods.count == 1 ? " exists" : " exist");
    } else if (!pods.first->scheduling_gates.empty()) {
      row.reason = "SchedulingGated";
      row.why = "scheduling gate " + pods.first->scheduling_gates.front();
    } else {
      row.reason = "Unschedulable";
      row.why = group.message.empty() ? pods.first->unscheduled : group.message;
    }
    return row;
  }

  const api::Inputs& inputs_;
  const std::vector<std::string> named_;
  std::map<std::string, std::int64_t> priorities_;
  std::int64_t default_priority_ = 0;
  std::map<api::ObjectKey, GroupPods> groups_;
};

}  // namespace

std::vector<QueueRow> WaitingPodGroups(const cluster::Cluster& cluster) {
  return WaitingGroups(*cluster.inputs).Rows();
}

}  // namespace weft::report
