#include "operator/simulate/pace.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/decide/predict.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/seating.h"
#include "operator/objective/traffic_tally.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/constants.h"
#include "operator/outlook/placed_network.h"
#include "operator/outlook/step.h"

namespace weft::simulate {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

constexpr std::string_view kAssumed = "H100";

outlook::Layout LayoutOf(const Shape& shape) {
  outlook::Layout layout;
  layout.model = *(*shape.workload.model)->transformer;
  layout.parallelism = *shape.workload.parallelism;
  layout.ranks = shape.problem.traffic.ranks;
  return layout;
}

bool IsPredictable(const Shape& shape) {
  const auto& model = *shape.workload.model;
  return model && model->transformer;
}

// How many times its share a GPU of the job has at least while all other jobs are silent: the
// accelerators of a domain over those of the job in it, where the job has several domains.
double IdleFactor(const fabric::Fabric& fabric, const placement::Seating& seating,
                  std::uint32_t per_worker) {
  double least = 0;
  for (Tier tier = 1; tier < seating.node_tier(); ++tier) {
    const auto domains = seating.domains(tier);
    if (domains.size() < 2) continue;
    std::vector<std::uint32_t> workers(domains.size(), 0);
    for (std::uint32_t w = 0; w < seating.workers(); ++w) ++workers[seating.seat(w, tier)];
    for (std::size_t seat = 0; seat < domains.size(); ++seat) {
      const double factor = static_cast<double>(fabric.AcceleratorsIn(tier, domains[seat])) /
                            (static_cast<double>(workers[seat]) * per_worker);
      least = least == 0 ? factor : std::min(least, factor);
    }
  }
  return std::max(1.0, least);
}

void Quicken(double factor, outlook::Path& path) {
  for (outlook::Crossing& crossing : path.crossings) {
    if (crossing.scale_up) continue;
    crossing.bytes_per_second =
        std::min(crossing.line_bytes_per_second, crossing.bytes_per_second * factor);
  }
}

}  // namespace

Uplinks::Uplinks(const fabric::Fabric& fabric) : first_(fabric.tiers().size() + 1, 0) {
  for (Tier tier = 1; tier < fabric.node_tier(); ++tier) {
    first_[tier] = size();
    const double share = outlook::kNetworkEfficiency * 1e15 /
                         static_cast<double>(fabric.tiers()[tier - 1].link.femtoseconds_per_byte);
    for (DomainIndex d = 0; d < fabric.domains(tier).size(); ++d) {
      rates_.push_back(share * static_cast<double>(fabric.AcceleratorsIn(tier, d)));
    }
  }
  for (Tier tier = fabric.node_tier(); tier < first_.size(); ++tier) first_[tier] = size();
}

Paces::Paces(const decide::ClusterFabric& on) : on_(on), uplinks_(*on.fabric) {
  if (on.fabric->node_count() == 0) return;
  const NodeIndex first = 0;
  const auto known = decide::AcceleratorOf(*on.fabric, {&first, 1});
  if (!known) {
    note_ =
        known.error().message + "; step times and power are predicted for " + std::string(kAssumed);
  }
}

outlook::Accelerator AcceleratorOrAssumed(const fabric::Fabric& fabric,
                                          std::span<const NodeIndex> nodes) {
  auto known = decide::AcceleratorOf(fabric, nodes);
  if (known) return *std::move(known);
  auto assumed = outlook::FindAccelerator(kAssumed);
  WEFT_CHECK(assumed.has_value());
  return *std::move(assumed);
}

void Paces::AddUses(const Shape& shape, std::span<const NodeIndex> nodes, Pace& pace) const {
  const fabric::Fabric& fabric = *on_.fabric;
  const placement::PairCost cost(fabric, shape.workload.pod.claims_compute_domain);
  const placement::Seating seating(fabric, nodes);
  const placement::Tally tally(cost, shape.problem.traffic, seating);
  const auto leaving = tally.LeavingBytes(fabric.node_tier() - 1);
  pace.level_bytes.assign(fabric.node_tier(), 0);
  for (Tier tier = 1; tier < fabric.node_tier(); ++tier) {
    std::vector<double> gpus(seating.domains(tier).size(), 0);
    for (std::uint32_t w = 0; w < seating.workers(); ++w) {
      gpus[seating.seat(w, tier)] += shape.workload.accelerator->per_worker;
    }
    for (std::size_t seat = 0; seat < gpus.size(); ++seat) {
      const auto bytes = static_cast<double>(leaving[tier][seat]);
      if (bytes <= 0) continue;
      pace.level_bytes[tier] += bytes;
      pace.uses.push_back({uplinks_.Of(tier, seating.domains(tier)[seat]), bytes, gpus[seat]});
    }
  }
}

Pace Paces::Of(const Shape& shape, std::span<const NodeIndex> nodes) const {
  Pace pace;
  const bool one_node =
      std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex n) { return n == nodes.front(); });
  if (one_node || !IsPredictable(shape)) return pace;
  const outlook::Layout layout = LayoutOf(shape);
  const outlook::Accelerator accelerator = AcceleratorOrAssumed(*on_.fabric, nodes);
  const outlook::Calibration& calibration = outlook::CalibrationFor(accelerator, layout);
  outlook::Network network =
      outlook::NetworkOf(layout, shape.problem.traffic,
                         {on_.fabric.get(), nodes, shape.workload.pod.claims_compute_domain});
  pace.shared = outlook::StepOf(layout, accelerator, calibration, network).Seconds();
  const placement::Seating seating(*on_.fabric, nodes);
  const double factor = IdleFactor(*on_.fabric, seating, shape.workload.accelerator->per_worker);
  for (outlook::Path& path : network.paths) Quicken(factor, path);
  Quicken(factor, network.expert_gradients);
  pace.alone = outlook::StepOf(layout, accelerator, calibration, network).Seconds();
  AddUses(shape, nodes, pace);
  return pace;
}

Result<double> Paces::TokensPerSecond(const Shape& shape, std::span<const NodeIndex> nodes) const {
  if (!IsPredictable(shape)) {
    return Invalid("metadata.annotations[" + std::string(kTokensAnnotation) +
                   "]: needs spec.model.transformer, from which the run time is predicted");
  }
  const outlook::Layout layout = LayoutOf(shape);
  const outlook::Accelerator accelerator = AcceleratorOrAssumed(*on_.fabric, nodes);
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
