#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/refusal.h"
#include "operator/plan/plan_report.h"

namespace weft::render {

// One job as the map shows it.
struct MapJob {
  std::string name;
  std::string spans;       // "1 spine, 2 leaf, 8 node"
  std::string cross_node;  // "1.048 TB", "-" without a model
  ByWorker<fabric::NodeIndex> nodes;
  std::uint32_t gpus_per_worker = 0;
  std::string why = {};        // why it is there; "" if unknown
  std::string predicted = {};  // PredictedText; "" if nothing is predicted
};

// One job without nodes.
struct MapUnplaced {
  std::string name;
  Refusal refusal;              // message: "" if unknown
  bool without_fabric = false;  // no fabric was chosen: shown on every map
};

// Bytes that leave one domain in one step, over all jobs with a model.
struct MapFlow {
  Int128 bytes = 0;
  double milliseconds = 0;  // bytes / (accelerators x rate of the next wider level)
};

// Everything one picture needs. Points into the Cluster it was made from.
struct MapInput {
  std::string title;
  const fabric::Fabric* fabric = nullptr;
  const fabric::Claims* claims = nullptr;  // before the plan
  std::vector<MapJob> jobs;
  std::vector<MapUnplaced> unplaced;
  // leaving[tier][domain]; 0 for outside.
  fabric::ByTier<fabric::ByDomain<MapFlow>> leaving;
};

// The picture of one fabric with the part of the plan on it. A job without a fabric is shown as
// refused on every map.
// Cost  O(nodes x tiers + ranks x axes x tiers), as objective::Score.
MapInput BuildMap(const cluster::Cluster& cluster, const plan::PlanReport& report,
                  std::size_t fabric);

// What is predicted for one job. Absent: the operator that placed it did not say.
struct PredictedJob {
  double step_milliseconds = 0, tokens_per_second = 0;
  double memory = 0;  // share of a GPU's
  std::optional<double> mfu, watts;
};
// "predicted: 5.45 s a step, 1,234 tokens/s, 83 % of a GPU's memory, MFU 41 %, 29 kW".
std::string PredictedText(const PredictedJob& job);

// The text for an element or attribute of XML: markup is escaped; control characters, bytes that
// are not UTF-8 and code points that XML forbids become '?'.
std::string EscapeXml(const std::string& text);

}  // namespace weft::render
