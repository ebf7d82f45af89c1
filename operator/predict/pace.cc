#include "operator/predict/pace.h"

#include <algorithm>

#include "operator/objective/pair_cost.h"
#include "operator/objective/seating.h"
#include "operator/objective/traffic_tally.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/constants.h"
#include "operator/outlook/placed_network.h"
#include "operator/outlook/step.h"

namespace weft::predict {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

// How many times its share a GPU of the job has at least while all other jobs are silent: the
// accelerators of a domain over those of the job in it, where the job has several domains.
double IdleFactor(const fabric::Fabric& fabric, const objective::Seating& seating,
                  std::uint32_t per_worker) {
  double least = 0;
  for (Tier tier{1}; tier < seating.node_tier(); ++tier) {
    const auto domains = seating.domains(tier);
    if (domains.size() < 2) continue;
    std::vector<std::uint32_t> workers(domains.size(), 0);
    for (const WorkerIndex w : Range<WorkerIndex>(seating.workers()))
      ++workers[seating.seat(w, tier)];
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

void AddUses(const cluster::ClusterFabric& on, const Uplinks& uplinks,
             const cluster::WorkloadView& workload, const traffic::Traffic& traffic,
             const objective::Seating& seating, Pace& pace) {
  const Tier node_tier = on.fabric->node_tier();
  const objective::PairCost cost(*on.fabric, workload.pod.claims_compute_domain);
  const objective::Tally tally(cost, traffic, seating);
  const auto leaving = tally.LeavingBytes(node_tier);
  pace.level_bytes.assign(node_tier + 1, 0);
  for (const Int128 bytes : leaving[node_tier]) {
    pace.level_bytes[node_tier] += static_cast<double>(bytes);
  }
  for (Tier tier{1}; tier < node_tier; ++tier) {
    std::vector<double> gpus(seating.domains(tier).size(), 0);
    for (const WorkerIndex w : Range<WorkerIndex>(seating.workers())) {
      gpus[seating.seat(w, tier)] += workload.accelerator->per_worker;
    }
    for (std::size_t seat = 0; seat < gpus.size(); ++seat) {
      const auto bytes = static_cast<double>(leaving[tier][seat]);
      if (bytes <= 0) continue;
      pace.level_bytes[tier] += bytes;
      pace.uses.push_back({uplinks.Of(tier, seating.domains(tier)[seat]), bytes, gpus[seat]});
    }
  }
}

}  // namespace

Uplinks::Uplinks(const fabric::Fabric& fabric) : first_(fabric.tiers().size() + 1, 0) {
  for (Tier tier{1}; tier < fabric.node_tier(); ++tier) {
    first_[tier] = size();
    const double share = outlook::kNetworkEfficiency * 1e15 /
                         static_cast<double>(fabric.tiers()[tier - 1].link.femtoseconds_per_byte);
    for (DomainIndex d{0}; d < fabric.domains(tier).EndIndex(); ++d) {
      rates_.push_back(share * static_cast<double>(fabric.AcceleratorsIn(tier, d)));
    }
  }
  for (Tier tier = fabric.node_tier(); tier < first_.EndIndex(); ++tier) first_[tier] = size();
}

outlook::Layout LayoutOf(const cluster::WorkloadView& workload, const traffic::Traffic& traffic) {
  outlook::Layout layout;
  layout.model = *(*workload.model)->transformer;
  layout.parallelism = *workload.parallelism;
  layout.ranks = traffic.ranks;
  return layout;
}

Pace PaceOf(const cluster::ClusterFabric& on, const Uplinks& uplinks,
            const cluster::WorkloadView& workload, const traffic::Traffic& traffic,
            const outlook::Accelerator& accelerator, objective::Nodes nodes) {
  Pace pace;
  const bool one_node =
      std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex n) { return n == nodes.front(); });
  const auto& model = *workload.model;
  if (one_node || !model || !model->transformer) return pace;
  const outlook::Layout layout = LayoutOf(workload, traffic);
  const outlook::Calibration& calibration = outlook::CalibrationFor(accelerator, layout);
  outlook::Network network = outlook::NetworkOf(
      layout, traffic, {on.fabric.get(), nodes, workload.pod.claims_compute_domain});
  pace.shared = outlook::StepOf(layout, accelerator, calibration, network).Seconds();
  const objective::Seating seating(*on.fabric, nodes);
  const double factor = IdleFactor(*on.fabric, seating, workload.accelerator->per_worker);
  for (outlook::Path& path : network.paths) Quicken(factor, path);
  Quicken(factor, network.expert_gradients);
  pace.alone = outlook::StepOf(layout, accelerator, calibration, network).Seconds();
  AddUses(on, uplinks, workload, traffic, seating, pace);
  return pace;
}

}  // namespace weft::predict
