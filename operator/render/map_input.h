#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/decide/plan.h"

namespace weft::render {

// One job of the plan as the map shows it.
struct MapJob {
  std::string name;
  std::string spans;                     // "1 spine, 2 leaf, 8 node"
  std::string cross_node;                // "1.048 TB", "-" without a model
  std::vector<fabric::NodeIndex> nodes;  // by worker
  std::uint32_t gpus_per_worker = 0;
};

struct MapRefusal {
  std::string name;
  std::string reason;
};

// Everything one picture needs. Points into the Cluster it was made from.
struct MapInput {
  std::string title;
  const fabric::Fabric* fabric = nullptr;
  const fabric::Claims* claims = nullptr;  // before the plan
  std::vector<MapJob> jobs;
  std::vector<MapRefusal> refused;
  // leaving[tier][domain]: bytes of one step that leave the domain, over all jobs with a model.
  std::vector<std::vector<Int128>> leaving;
};

// What the plan put on one fabric. Cost O(nodes x tiers + ranks x axes).
MapInput BuildMap(const decide::Cluster& cluster, const decide::PlanReport& report,
                  std::size_t fabric);

// '&', '<', '>', '"' and control characters made harmless.
std::string EscapeXml(const std::string& text);

}  // namespace weft::render
