#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/cluster/note.h"
#include "operator/outlook/failures.h"
#include "operator/outlook/outlook.h"
#include "operator/outlook/prices.h"
#include "operator/plan/plan_report.h"

namespace weft::report {

// What Weft predicts for one job that has nodes, or gets them from a plan.
struct JobOutlook {
  std::string job;  // "namespace/name"
  std::string accelerator;
  std::int64_t accelerators = 0;
  bool held = false;  // the job has its nodes already; else the plan gives them
  Result<outlook::Prediction> prediction = Invalid("");  // an error if no prediction is possible
  std::optional<predict::LearnedScalar> learned;         // by which the step was stretched
  std::vector<std::string> notes;  // about settings that training software refuses
  outlook::Reliability reliability;
  std::optional<double> cost_per_hour;  // absent without prices
  std::string currency;
  std::optional<double> facility_watts;  // with cooling; absent without prices
};

struct OutlookReport {
  std::vector<JobOutlook> jobs;      // in the plan's order, then jobs that have nodes
  std::vector<cluster::Note> notes;  // about jobs left out: no nodes, or no transformer
  bool all_placed = true;
};

struct OutlookChoice {
  std::string space;                        // only jobs of this namespace; "": all
  const outlook::Prices* prices = nullptr;  // null: no costs
};

// Memory, step time and power of every job with a transformer model.
//
// Errors  kInvalid for a malformed annotation of a workload. An error of a single job (unknown
//         accelerator, unsupported precision) is in the job's prediction.
// Cost    O(ranks x axes) per job.
Result<OutlookReport> Outlook(const cluster::Cluster& cluster, const plan::PlanReport& plan,
                              const OutlookChoice& choice = {});

// Fields of one prediction, and of what failures cost, added to an object.
void AddPrediction(const outlook::Prediction& prediction, nlohmann::ordered_json& out);
void AddReliability(const outlook::Reliability& reliability, nlohmann::ordered_json& out);

nlohmann::ordered_json OutlookJson(const OutlookReport& report);

}  // namespace weft::report
