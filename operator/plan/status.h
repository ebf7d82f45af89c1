#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "operator/plan/plan_report.h"

namespace weft::plan {

// The v1 List of Placements that `weft plan -o json` prints: one for each entry, in input order,
// with status (operator/docs/api.md). Quantities have four significant digits; times are left out.
nlohmann::ordered_json PlacementList(const cluster::Cluster& cluster, const PlanReport& report);

// The Placement of one entry.
nlohmann::ordered_json PlacementOf(const cluster::Cluster& cluster, const PlanEntry& entry);

// The names of the nodes, in their order.
nlohmann::ordered_json NodeNamesJson(const fabric::Fabric& on,
                                     std::span<const fabric::NodeIndex> nodes);

// status.spans and the parts of status.traffic that come from a placement's scores.
nlohmann::ordered_json SpansJson(const objective::Scores& scores);
nlohmann::ordered_json TrafficJson(const objective::Scores& scores, std::uint32_t ranks);

// ceil(100 x cost / bound); 100 if both are 0; absent if only the bound is 0.
std::optional<std::int64_t> CostOverLowerBoundPercent(Int128 cost, Int128 lower_bound);

}  // namespace weft::plan
