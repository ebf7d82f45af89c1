#include "operator/decide/status.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/encode.h"
#include "operator/api/names.h"
#include "operator/base/quantity.h"
#include "operator/base/short_text.h"
#include "operator/decide/conditions.h"
#include "operator/decide/text.h"

namespace weft::decide {
namespace {

using Json = nlohmann::ordered_json;

// bytes / ranks, rounded half up.
Int128 PerRank(Int128 bytes, std::uint32_t ranks) {
  return ranks == 0 ? 0 : (bytes + ranks / 2) / ranks;
}

std::int64_t WholeMilliseconds(double value) {
  constexpr double kMost = 9.2e18;  // below 2^63
  return value >= kMost ? Bytes::kMax : std::llround(value);
}

// The Placement that the entry becomes: the job's next attempt, or the user's own.
api::Placement MakePlacement(const Cluster& cluster, const PlanEntry& entry) {
  const Workload& workload = entry.workload;
  api::Placement placement;
  if (workload.is_job) {
    placement.meta.key.space = workload.key().space;
    placement.meta.labels.Set(api::kJobNameLabel, workload.key().name);
  } else {
    const api::Placement& own = cluster.inputs->placements[workload.index];
    placement.meta.key.space = own.meta.key.space;
    placement.meta.labels = own.meta.labels;
    placement.pod_selector = own.pod_selector;
    placement.worker_index_labels = own.worker_index_labels;
  }
  placement.meta.key.name = workload.PlacementName();
  placement.workers = workload.workers;
  placement.fabric_name =
      entry.fabric ? cluster.fabrics[*entry.fabric].name() : *workload.fabric_name;
  placement.accelerator = *workload.accelerator;
  placement.model = *workload.model;
  placement.parallelism = *workload.parallelism;
  placement.topology = *workload.topology;
  return placement;
}

std::string PlacedMessage(const ClusterFabric& on, const PlanEntry& entry) {
  std::string message = SpansText(entry.placed()->scores);
  if (!on.LinksDeclared()) message += "; some link bandwidths are assumed";
  for (const Note& note : entry.notes) {
    if (note.severity != Severity::kInfo) message += "; " + note.reason + ": " + note.text;
  }
  return message;
}

Json Conditions(bool placed, const std::string& reason, const std::string& message) {
  return api::EncodeConditions({{.type = "Placed",
                                 .status = placed ? "True" : "False",
                                 .reason = reason,
                                 .message = Shorten(message, kMessageBytesAtMost),
                                 .last_transition_time = ""}});
}

Json PlacedStatus(const ClusterFabric& on, const PlanEntry& entry) {
  const Placed& placed = *entry.placed();
  Json status = {{"nodes", Json::array()}};
  for (const fabric::NodeIndex node : placed.plan.nodes) {
    status["nodes"].push_back(on.fabric->node(node).name);
  }
  status["spans"] = SpansJson(placed.scores);
  Json traffic = entry.modelled ? TrafficJson(placed.scores, entry.ranks) : Json::object();
  // In the order of the reference: best and bound stand behind crossNodeBytes.
  Json ordered = Json::object();
  const auto put_bounds = [&] {
    if (entry.modelled && placed.best) {
      ordered["bestCrossNodeBytes"] = FormatBytes(placed.best->cross_node_bytes);
    }
    const auto percent = CostOverLowerBoundPercent(placed.plan.cost, placed.plan.lower_bound);
    if (percent) ordered["costOverLowerBoundPercent"] = *percent;
  };
  if (!entry.modelled) put_bounds();
  for (auto& [key, value] : traffic.items()) {
    ordered[key] = std::move(value);
    if (key == "crossNodeBytes") put_bounds();
  }
  status["traffic"] = std::move(ordered);
  status["conditions"] = Conditions(true, "Placed", PlacedMessage(on, entry));
  return status;
}

}  // namespace

Json SpansJson(const placement::Scores& scores) {
  Json spans = Json::array();
  for (const placement::Span& span : scores.spans) {
    spans.push_back({{"level", span.level}, {"domains", span.domains}});
  }
  return spans;
}

Json TrafficJson(const placement::Scores& scores, std::uint32_t ranks) {
  Json traffic = {{"flows", Json::array()}};
  for (const placement::Flow& flow : scores.flows) {
    if (flow.bytes == 0) continue;
    traffic["flows"].push_back({{"axis", traffic::AxisName(flow.axis)},
                                {"level", flow.level},
                                {"bytes", FormatBytes(flow.bytes)},
                                {"bytesPerGPU", FormatBytes(PerRank(flow.bytes, ranks))}});
  }
  traffic["crossNodeBytes"] = FormatBytes(scores.cross_node_bytes);
  if (scores.busiest_uplink) {
    const placement::Uplink& uplink = *scores.busiest_uplink;
    traffic["busiestUplink"] = {{"level", uplink.level},
                                {"domain", Shorten(uplink.domain, api::kTextAtMost)},
                                {"bytes", FormatBytes(uplink.bytes)},
                                {"milliseconds", WholeMilliseconds(uplink.milliseconds)}};
  }
  traffic["spread"] = Json::array();
  for (const placement::AxisSpread& spread : scores.spread) {
    traffic["spread"].push_back({{"axis", traffic::AxisName(spread.axis)},
                                 {"level", spread.level},
                                 {"domains", spread.domains}});
  }
  traffic["communicationMilliseconds"] = WholeMilliseconds(scores.communication_milliseconds);
  return traffic;
}

Json PlacementOf(const Cluster& cluster, const PlanEntry& entry) {
  Json status;
  if (const Refused* refused = entry.refused()) {
    status["conditions"] = Conditions(false, refused->reason, refused->message);
  } else {
    status = PlacedStatus(cluster.fabrics[*entry.fabric], entry);
  }
  return api::EncodePlacement(MakePlacement(cluster, entry), std::move(status));
}

Json PlacementList(const Cluster& cluster, const PlanReport& report) {
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  for (const PlanEntry& entry : report.entries) {
    list["items"].push_back(PlacementOf(cluster, entry));
  }
  return list;
}

std::optional<std::int64_t> CostOverLowerBoundPercent(Int128 cost, Int128 lower_bound) {
  if (cost == 0 && lower_bound == 0) return 100;
  if (lower_bound <= 0) return std::nullopt;
  return PercentUp(cost, lower_bound);
}

}  // namespace weft::decide
