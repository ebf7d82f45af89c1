#include "operator/simulate/pace.h"

#include "operator/base/check.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/placed_network.h"
#include "operator/outlook/step.h"
#include "operator/predict/predict.h"

namespace weft::simulate {
namespace {

using fabric::NodeIndex;

constexpr std::string_view kAssumed = "H100";

bool IsPredictable(const Shape& shape) {
  const auto& model = *shape.workload.model;
  return model && model->transformer;
}

}  // namespace

Paces::Paces(const cluster::ClusterFabric& on) : on_(on), uplinks_(*on.fabric) {
  if (on.fabric->node_count() == 0) return;
  const NodeIndex first{0};
  const auto known =
      predict::AcceleratorOf(*on.fabric, AcceleratorResourceOf(*on.fabric, first), {&first, 1});
  if (!known) {
    note_ =
        known.error().message + "; step times and power are predicted for " + std::string(kAssumed);
  }
}

std::string AcceleratorResourceOf(const fabric::Fabric& fabric, NodeIndex node) {
  for (const fabric::ResourceIndex r : fabric.resources().Indices()) {
    if (fabric.IsAccelerator(r) && fabric.allocatable(node, r) > 0) return fabric.resources()[r];
  }
  return "";
}

outlook::Accelerator AcceleratorOrAssumed(const fabric::Fabric& fabric, const std::string& resource,
                                          std::span<const NodeIndex> nodes) {
  auto known = predict::AcceleratorOf(fabric, resource, nodes);
  if (known) return *std::move(known);
  auto assumed = outlook::FindAccelerator(kAssumed);
  WEFT_CHECK(assumed.has_value());
  return *std::move(assumed);
}

predict::Pace Paces::Of(const Shape& shape, objective::Nodes nodes) const {
  return predict::PaceOf(
      on_, uplinks_, shape.workload, shape.problem.traffic,
      AcceleratorOrAssumed(*on_.fabric, shape.workload.accelerator->resource_name, nodes), nodes);
}

Result<double> Paces::TokensPerSecond(const Shape& shape, objective::Nodes nodes) const {
  if (!IsPredictable(shape)) {
    return Invalid("metadata.annotations[" + std::string(kTokensAnnotation) +
                   "]: needs spec.model.transformer, from which the run time is predicted");
  }
  const outlook::Layout layout = predict::LayoutOf(shape.workload, shape.problem.traffic);
  const outlook::Accelerator accelerator =
      AcceleratorOrAssumed(*on_.fabric, shape.workload.accelerator->resource_name, nodes);
  const outlook::Network network =
      outlook::NetworkOf(layout, shape.problem.traffic,
                         {on_.fabric.get(), nodes, shape.workload.pod.claims_compute_domain});
  const double step =
      outlook::StepOf(layout, accelerator, outlook::CalibrationFor(accelerator, layout), network)
          .Seconds();
  return static_cast<double>(layout.model.global_batch_size) *
         static_cast<double>(layout.model.sequence_length) / step;
}

}  // namespace weft::simulate
