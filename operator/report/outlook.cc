#include "operator/report/outlook.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "operator/decide/running.h"
#include "operator/outlook/placed_network.h"

namespace weft::report {
namespace {

using decide::Cluster;
using decide::Workload;
using fabric::NodeIndex;

constexpr const char* kInstanceType = "node.kubernetes.io/instance-type";
constexpr const char* kMemoryMiB = "nvidia.com/gpu.memory";  // GPU feature discovery

// The product of a node's pool, else its instance type.
std::string ProductOf(const fabric::Fabric& fabric, NodeIndex node) {
  const std::string& product = fabric.pools()[fabric.pool(node)].product;
  if (!product.empty()) return product;
  return std::string(fabric.node(node).labels.At(kInstanceType).value_or(""));
}

void TakeMemory(const fabric::NodeFacts& node, outlook::Accelerator& accelerator) {
  const auto label = node.labels.At(kMemoryMiB);
  if (!label) return;
  double mib = 0;
  const auto [end, error] = std::from_chars(label->data(), label->data() + label->size(), mib);
  const bool number = error == std::errc() && end == label->data() + label->size();
  if (number && mib >= 1024) accelerator.memory_bytes = mib * 1024 * 1024;
}

Result<outlook::Accelerator> AcceleratorOfNode(const fabric::Fabric& fabric, NodeIndex node) {
  const std::string product = ProductOf(fabric, node);
  const std::string& name = fabric.node(node).name;
  auto found = outlook::FindAccelerator(product);
  if (!found && product.empty()) {
    return Invalid("no label of node " + name +
                   " names its accelerator; set spec.acceleratorModel of the Fabric");
  }
  if (!found) return Invalid("node " + name + ": " + found.error().message);
  TakeMemory(fabric.node(node), *found);
  return found;
}

class OutlookMaker {
 public:
  OutlookMaker(const Cluster& cluster, std::string space)
      : cluster_(cluster), space_(std::move(space)) {}

  void AddPlanned(const decide::PlanEntry& entry) {
    const auto* placed = entry.placed();
    if (placed == nullptr && Wanted(entry.workload)) {
      report_.all_placed = false;
      Leave(entry.workload, "NotPlaced", "cannot be placed now, so its links are not known");
    } else if (placed != nullptr) {
      Add(entry.workload, *entry.fabric, placed->plan.nodes, false);
    }
  }

  void AddHeld(const decide::Running& running) {
    Add(running.workload, running.fabric, running.nodes, true);
  }

  OutlookReport Take() { return std::move(report_); }

 private:
  bool Wanted(const Workload& workload) const {
    return space_.empty() || workload.key().space == space_;
  }

  void Leave(const Workload& workload, std::string reason, const std::string& why) {
    report_.notes.push_back(
        {decide::Severity::kInfo, std::move(reason),
         std::string(workload.kind()) + " " + api::Show(workload.key()) + " " + why + "."});
  }

  void Add(const Workload& workload, std::size_t fabric, const std::vector<NodeIndex>& nodes,
           bool held) {
    if (!Wanted(workload)) return;
    if (!workload.model->has_value() || !(*workload.model)->transformer) {
      return Leave(workload, "NoModel", "has no spec.model.transformer to predict from");
    }
    JobOutlook one;
    one.job = api::Show(workload.key());
    one.held = held;
    one.accelerators = std::int64_t{workload.workers} * workload.accelerator->per_worker;
    one.prediction = Predict(workload, cluster_.fabrics[fabric], nodes, one.accelerator);
    if (!one.prediction) {
      one.prediction = Invalid(*workload.place + ": " + one.prediction.error().message);
    }
    report_.jobs.push_back(std::move(one));
  }

  static Result<outlook::Prediction> Predict(const Workload& workload,
                                             const decide::ClusterFabric& on,
                                             const std::vector<NodeIndex>& nodes,
                                             std::string& name) {
    const auto accelerator = AcceleratorOf(*on.fabric, nodes);
    if (!accelerator) return accelerator.error();
    name = accelerator->name;
    const auto per_worker = static_cast<std::uint32_t>(workload.accelerator->per_worker);
    const auto traffic = traffic::ComputeTraffic(*workload.model, *workload.parallelism,
                                                 workload.workers, per_worker);
    if (!traffic) return Invalid("spec." + traffic.error().message);
    outlook::Layout layout;
    layout.model = *(*workload.model)->transformer;
    layout.parallelism = *workload.parallelism;
    layout.ranks = traffic->ranks;
    const auto network = outlook::NetworkOf(
        layout, *traffic, {on.fabric.get(), nodes, workload.pod.claims_compute_domain});
    auto prediction = outlook::Predict(layout, *accelerator, network);
    if (!prediction) return Invalid("spec." + prediction.error().message);
    return prediction;
  }

  const Cluster& cluster_;
  const std::string space_;
  OutlookReport report_;
};

}  // namespace

Result<outlook::Accelerator> AcceleratorOf(const fabric::Fabric& fabric,
                                           const std::vector<NodeIndex>& nodes) {
  std::set<fabric::PoolIndex> seen;
  std::optional<outlook::Accelerator> slowest;
  for (const NodeIndex node : nodes) {
    const bool first = seen.insert(fabric.pool(node)).second;
    if (!first && !fabric.pools()[fabric.pool(node)].product.empty()) continue;
    const auto found = AcceleratorOfNode(fabric, node);
    if (!found) return found.error();
    if (!slowest || found->bf16 < slowest->bf16) slowest = *found;
  }
  if (!slowest) return Invalid("the job has no nodes");
  return *slowest;
}

Result<OutlookReport> Outlook(const Cluster& cluster, const decide::PlanReport& plan,
                              const std::string& space) {
  OutlookMaker maker(cluster, space);
  for (const decide::PlanEntry& entry : plan.entries) maker.AddPlanned(entry);
  const auto running = decide::RunningWorkloads(cluster);
  if (!running) return running.error();
  for (const decide::Running& one : *running) maker.AddHeld(one);
  return maker.Take();
}

}  // namespace weft::report
