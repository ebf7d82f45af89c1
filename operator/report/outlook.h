#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/decide/plan.h"
#include "operator/outlook/outlook.h"

namespace weft::report {

// What Weft predicts of one job that has nodes, or gets them by a plan.
struct JobOutlook {
  std::string job;  // "namespace/name"
  std::string accelerator;
  std::int64_t accelerators = 0;
  bool held = false;  // it runs, or holds its nodes; else the plan gives them
  Result<outlook::Prediction> prediction = Invalid("");  // an error where the model cannot be
};

struct OutlookReport {
  std::vector<JobOutlook> jobs;     // of the plan in its order, then those that hold nodes
  std::vector<decide::Note> notes;  // of jobs that are left out: no nodes, or no transformer
  bool all_placed = true;
};

// Memory, step time and power of every job with a transformer model. `space`: of one namespace.
//
// Errors  kInvalid for a malformed annotation of a workload. What is wrong with one job alone (an
//         accelerator that nobody knows, a precision that it lacks) stands in its prediction.
// Cost    O(ranks x axes x tiers) each.
Result<OutlookReport> Outlook(const decide::Cluster& cluster, const decide::PlanReport& plan,
                              const std::string& space = "");

// The accelerator of these nodes; of several products the slowest. Its memory is what the label
// nvidia.com/gpu.memory says, where a node carries it.
//
// Errors  kInvalid that names the node, its product and the accelerators that are known.
Result<outlook::Accelerator> AcceleratorOf(const fabric::Fabric& fabric,
                                           const std::vector<fabric::NodeIndex>& nodes);

nlohmann::ordered_json OutlookJson(const OutlookReport& report);

}  // namespace weft::report
