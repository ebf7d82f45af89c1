#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/accelerator.h"
#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/objective/nodes.h"
#include "operator/outlook/failures.h"
#include "operator/outlook/outlook.h"
#include "operator/outlook/prices.h"
#include "operator/predict/learned.h"

namespace weft::predict {

// What Weft predicts for one job on its nodes.
struct Predicted {
  std::string accelerator;  // outlook::NameOf
  outlook::Prediction prediction;
  std::optional<double> cost_per_hour;  // absent without prices
  std::string currency;
  std::optional<LearnedScalar> learned = {};  // by which the step was stretched
};

// Memory, step time and power of a workload with a transformer model.
//
// Shapes  nodes: one per worker; traffic: of the workload; learned: null: no scalar is used.
// Errors  kInvalid if the workload has no transformer, if the accelerator of a node is unknown (the
//         message names the node), and if the accelerator does not support the precision.
// Cost    O(seats of the traffic x tiers): 16 us for 1,024 workers that fit
//         (tests/bench/predict_bench.cc).
Result<Predicted> Predict(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                          const traffic::Traffic& traffic, objective::Nodes nodes,
                          const LearnedScalars* learned = nullptr);

// What one unit of the resource is on these nodes: an accelerator, or a part of one
// (fabric/partition.h); if they have several products, the slowest. Its memory is the value of the
// label nvidia.com/gpu.memory, if a node has it.
//
// Errors  kInvalid; the message names the node, its product and the known accelerators.
Result<outlook::Accelerator> AcceleratorOf(const fabric::Fabric& fabric,
                                           const std::string& resource,
                                           std::span<const fabric::NodeIndex> nodes);

// Price of an hour on these nodes, each by its product and capacity type; a part of an accelerator
// costs its share. Absent if a node has no price or an unknown accelerator.
std::optional<double> CostPerHour(const fabric::Fabric& fabric, const api::Accelerator& accelerator,
                                  std::span<const fabric::NodeIndex> nodes,
                                  const outlook::Prices& prices);

// What failures cost a job on these nodes, by the assumed rates or those of the prices (may be
// null): failures of all nodes, and interruptions of the spot nodes among them.
struct Failures {
  outlook::Reliability reliability;
  std::int64_t nodes = 0, spot_nodes = 0;  // different ones
};
Failures FailuresOn(const fabric::Fabric& fabric, std::span<const fabric::NodeIndex> nodes,
                    const outlook::Prices* prices);

// "a GPU would hold 1.2 TB, and H100 has 80 GB for it: weights 1 TB, .... It fits in 77 GB with
// ...".
std::string DoesNotFitText(std::string_view accelerator, const outlook::Memory& memory,
                           double capacity, const std::optional<outlook::Change>& change);

// Power of one workload in one domain during training, with servers, without cooling.
struct DomainWatts {
  fabric::Tier tier{0};
  fabric::DomainIndex domain{0};
  double watts = 0;
};

// One entry for each domain of a level that the workload uses, none if the accelerator is unknown.
// The workload needs no model.
// Cost  O(workers x tiers).
std::vector<DomainWatts> WattsOf(const cluster::ClusterFabric& on,
                                 const cluster::WorkloadView& workload, objective::Nodes nodes);

// The watts that the power limit of the domain's level leaves if all accelerators in use there draw
// full power; absent without a limit.
std::optional<double> PowerHeadroom(const cluster::ClusterFabric& on, fabric::Tier tier,
                                    fabric::DomainIndex domain);

}  // namespace weft::predict
