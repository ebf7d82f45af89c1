#include "operator/predict/predict.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/fabric/partition.h"
#include "operator/fabric/pools.h"
#include "operator/objective/seating.h"
#include "operator/outlook/placed_network.h"
#include "operator/predict/pace.h"
#include "operator/rules/power.h"

namespace weft::predict {
namespace {

using fabric::NodeIndex;

constexpr const char* kMemoryMiB = "nvidia.com/gpu.memory";  // GPU feature discovery

void TakeMemory(const fabric::NodeFacts& node, outlook::Accelerator& accelerator) {
  const auto label = node.labels.At(kMemoryMiB);
  if (!label) return;
  double mib = 0;
  const auto [end, error] = std::from_chars(label->data(), label->data() + label->size(), mib);
  const bool number = error == std::errc() && end == label->data() + label->size();
  if (number && mib >= 1024) accelerator.memory_bytes = mib * 1024 * 1024;
}

// "Fabric default: spec.acceleratorModel", "node n1: label nvidia.com/gpu.product".
std::string WhereNamed(const fabric::Fabric& fabric, NodeIndex node) {
  const fabric::NodeFacts& facts = fabric.node(node);
  const fabric::PoolLabels labels = fabric::ReadPoolLabels(facts);
  if (labels.product.empty() && !fabric.spec().accelerator_model.empty()) {
    return "Fabric " + fabric.spec().name + ": spec.acceleratorModel";
  }
  return "node " + facts.name + ": label " +
         std::string(labels.product.empty() ? fabric::kInstanceType : labels.product_key);
}

// The name of a part that belongs to the fabric: its own, or that of the resource.
std::string_view NameOfPart(const fabric::Fabric& fabric, NodeIndex node,
                            const std::string& resource) {
  const std::string_view part = fabric.pools()[fabric.pool(node)].PartOf(resource);
  if (!part.empty()) return part;
  const auto known = fabric.FindResource(resource);
  return known ? fabric.resources()[*known] : std::string_view();
}

Status TakePart(const fabric::Fabric& fabric, NodeIndex node, const std::string& resource,
                outlook::Accelerator& accelerator) {
  const fabric::NodeFacts& facts = fabric.node(node);
  const fabric::Partition part = fabric::PartitionOf(facts, resource);
  if (part.memory_bytes == 0) TakeMemory(facts, accelerator);
  if (outlook::TakePart(part, NameOfPart(fabric, node, resource), accelerator)) return {};
  return Invalid("node " + facts.name + ": " + resource + " is a part of " +
                 std::string(accelerator.name) + " (" + part.name +
                 "), but no label says how large; GPU feature discovery writes "
                 "nvidia.com/gpu.replicas and nvidia.com/gpu.memory");
}

Result<outlook::Accelerator> AcceleratorOfNode(const fabric::Fabric& fabric,
                                               const std::string& resource, NodeIndex node) {
  const std::string_view product = fabric::WholeProduct(fabric.pools()[fabric.pool(node)].product);
  const std::string& name = fabric.node(node).name;
  auto found = outlook::FindAccelerator(product, fabric.spec().accelerators);
  if (!found && product.empty()) {
    return Invalid("no label of node " + name +
                   " names its accelerator; set spec.acceleratorModel of the Fabric");
  }
  if (!found) {
    return Invalid(WhereNamed(fabric, node) + ": " + found.error().message +
                   ". Correct the name, or describe the accelerator in spec.accelerators of the "
                   "Fabric or the file of --accelerators");
  }
  if (const Status part = TakePart(fabric, node, resource, *found); !part) return part.error();
  if (const auto& pool = fabric.spec().pooled_memory) {
    found->pooled_bytes = static_cast<double>(pool->bytes_per_gpu);
    found->pooled_bytes_per_second = static_cast<double>(pool->bytes_per_second_per_gpu);
  }
  return found;
}

std::string Size(double bytes) { return BytesText(static_cast<Int128>(bytes)); }

}  // namespace

Result<outlook::Accelerator> AcceleratorOf(const fabric::Fabric& fabric,
                                           const std::string& resource,
                                           std::span<const NodeIndex> nodes) {
  IndexVector<fabric::PoolIndex, bool> seen(fabric.pools().EndIndex());
  std::optional<outlook::Accelerator> slowest;
  for (const NodeIndex node : nodes) {
    const fabric::PoolIndex pool = fabric.pool(node);
    if (seen[pool]) continue;
    seen[pool] = true;
    const auto found = AcceleratorOfNode(fabric, resource, node);
    if (!found) return found.error();
    if (!slowest || found->bf16 < slowest->bf16) slowest = *found;
  }
  if (!slowest) return Invalid("the job has no nodes");
  return *slowest;
}

Result<Predicted> Predict(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                          const traffic::Traffic& traffic, objective::Nodes nodes,
                          const LearnedScalars* learned) {
  const auto& model = *workload.model;
  if (!model || !model->transformer) return Invalid("spec.model.transformer: required");
  const auto accelerator = AcceleratorOf(*on.fabric, workload.accelerator->resource_name, nodes);
  if (!accelerator) return accelerator.error();
  const outlook::Layout layout = LayoutOf(workload, traffic);
  const outlook::Network network = outlook::NetworkOf(
      layout, traffic, {on.fabric.get(), nodes, workload.pod.claims_compute_domain});
  auto prediction = outlook::Predict(layout, *accelerator, network);
  if (!prediction) return Invalid("spec." + prediction.error().message);
  Predicted out{outlook::NameOf(*accelerator), *std::move(prediction), std::nullopt, ""};
  if (learned != nullptr) out.learned = learned->Find(workload, out.accelerator);
  if (out.learned) {
    constexpr double kPercent = 100;
    outlook::Stretch(static_cast<double>(out.learned->percent) / kPercent, out.prediction);
  }
  return out;
}

std::optional<double> CostPerHour(const fabric::Fabric& fabric, const api::Accelerator& wanted,
                                  std::span<const NodeIndex> nodes, const outlook::Prices& prices) {
  IndexVector<fabric::PoolIndex, std::optional<double>> of_pool(fabric.pools().EndIndex());
  double sum = 0;
  for (const NodeIndex node : nodes) {
    const fabric::PoolIndex pool = fabric.pool(node);
    if (!of_pool[pool]) {
      const auto accelerator = AcceleratorOfNode(fabric, wanted.resource_name, node);
      if (!accelerator) return std::nullopt;
      const bool spot = fabric.pools()[pool].capacity == fabric::CapacityType::kSpot;
      of_pool[pool] =
          prices.PerHour(accelerator->name, spot ? outlook::Terms::kSpot : prices.terms);
      if (of_pool[pool]) *of_pool[pool] *= accelerator->share;
    }
    if (!of_pool[pool]) return std::nullopt;
    sum += *of_pool[pool];
  }
  return sum * wanted.per_worker;
}

Failures FailuresOn(const fabric::Fabric& fabric, std::span<const NodeIndex> nodes,
                    const outlook::Prices* prices) {
  const std::set<NodeIndex> different(nodes.begin(), nodes.end());
  Failures out;
  out.nodes = static_cast<std::int64_t>(different.size());
  out.spot_nodes = std::count_if(different.begin(), different.end(), [&](NodeIndex node) {
    return fabric.pools()[fabric.pool(node)].capacity == fabric::CapacityType::kSpot;
  });
  out.reliability = outlook::ReliabilityOf(static_cast<double>(out.nodes),
                                           prices ? prices->Rates() : outlook::FailureRates(),
                                           static_cast<double>(out.spot_nodes));
  return out;
}

std::string DoesNotFitText(std::string_view accelerator, const outlook::Memory& memory,
                           double capacity, const std::optional<outlook::Change>& change) {
  std::string text = "a GPU would hold " + Size(memory.Total()) + ", and " +
                     std::string(accelerator) + " has " + Size(capacity) + " for it: weights " +
                     Size(memory.weights) + ", gradients " + Size(memory.gradients) +
                     ", optimizer " + Size(memory.optimizer) + ", activations " +
                     Size(memory.activations) + ", other " + Size(memory.other) + ". ";
  return text + (change ? "It fits in " + Size(change->total) + " with " + change->text
                        : "No change of up to three settings makes it fit on as many GPUs");
}

std::vector<DomainWatts> WattsOf(const cluster::ClusterFabric& on,
                                 const cluster::WorkloadView& workload, objective::Nodes nodes) {
  const auto accelerator = AcceleratorOf(*on.fabric, workload.accelerator->resource_name, nodes);
  if (!accelerator) return {};
  const double each = outlook::PowerOf(*accelerator, workload.accelerator->per_worker);
  const objective::Seating seating(*on.fabric, nodes);
  std::vector<DomainWatts> watts;
  for (fabric::Tier tier{1}; tier < on.fabric->node_tier(); ++tier) {
    const std::size_t first = watts.size();
    for (const fabric::DomainIndex domain : seating.domains(tier)) {
      watts.push_back({tier, domain, 0});
    }
    for (const WorkerIndex w : Range<WorkerIndex>(seating.workers())) {
      watts[first + seating.seat(w, tier)].watts += each;
    }
  }
  return watts;
}

std::optional<double> PowerHeadroom(const cluster::ClusterFabric& on, fabric::Tier tier,
                                    fabric::DomainIndex domain) {
  const auto& limit = on.fabric->tiers()[tier].power_watts;
  if (!limit) return std::nullopt;
  return static_cast<double>(*limit) - rules::PeakWattsIn(on.claims, tier, domain);
}

}  // namespace weft::predict
