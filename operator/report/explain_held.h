#pragma once

#include <string>
#include <vector>

#include "operator/report/explain.h"

namespace weft::report {

// A TrainingJob or Placement that has nodes, as an entry of a plan that chose just these, and why
// they are good or not. Where nodes are gone from the fabrics the entry is a refusal that names
// them.
struct HeldExplanation {
  decide::PlanEntry entry;
  Explanation explanation;  // `entry` is not set; the bound is 0 where none is known
};

// Explains jobs and Placements that hold nodes. Costs are those of the present fabric and spec;
// bound and comparison use the nodes that are free now and the job's own. `names` as for Explain,
// or the Placement's name.
//
// Errors  kInvalid for a name that nobody has who holds nodes, and for what is wrong with the
//         workload itself.
// Cost    two scores and one search each.
Result<std::vector<HeldExplanation>> ExplainHeld(const decide::Cluster& cluster,
                                                 const std::vector<std::string>& names);

// Explains waiting workloads by Explain, and those with nodes by ExplainHeld, each as one more
// entry of `report`. Without names: all waiting ones. Errors as in both.
Result<std::vector<Explanation>> ExplainNamed(const decide::Cluster& cluster,
                                              const std::vector<std::string>& names,
                                              decide::PlanReport& report);

}  // namespace weft::report
