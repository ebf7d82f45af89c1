#pragma once

#include <string>
#include <vector>

#include "operator/report/explain.h"

namespace weft::report {

// A TrainingJob or Placement that has nodes, as an entry of a plan that chose exactly these nodes,
// and why they are good or not. If the fabrics no longer have some of these nodes, the entry is a
// refusal that names them.
struct HeldExplanation {
  plan::PlanEntry entry;
  Explanation explanation;  // `entry` is not set; the bound is 0 if unknown
};

// Explains jobs and Placements that have nodes. Costs are computed with the present fabric and
// spec; bound and comparison use the job's own nodes and those that are free now. `names` as for
// Explain; a Placement's name also selects its job.
//
// Errors  kInvalid for a name that no workload with nodes has, and for an invalid
//         workload.
// Cost    two scores and one search per workload.
Result<std::vector<HeldExplanation>> ExplainHeld(const cluster::Cluster& cluster,
                                                 const std::vector<std::string>& names);

// Takes back the claims that the workload's holder has on the fabric.
void RemoveHeld(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                fabric::Claims& claims);

// Explains waiting workloads by Explain; workloads with nodes by ExplainHeld, each as a new entry
// of `report`. Without names: all waiting ones.
// Errors  as in Explain and ExplainHeld.
Result<std::vector<Explanation>> ExplainNamed(const cluster::Cluster& cluster,
                                              const std::vector<std::string>& names,
                                              plan::PlanReport& report);

}  // namespace weft::report
