#include <nlohmann/json.hpp>
#include <utility>

#include "operator/base/quantity.h"
#include "operator/cluster/note.h"
#include "operator/plan/status.h"
#include "operator/report/audit.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson LevelsJson(const std::vector<LevelBytes>& levels) {
  OrderedJson out = OrderedJson::array();
  for (const LevelBytes& level : levels) {
    out.push_back({{"level", level.level},
                   {"bytes", FormatBytes(level.bytes)},
                   {"crossingBytes", FormatBytes(level.crossing)}});
  }
  return out;
}

// The scores of a placement, with the bytes at and across each level. Times need a model.
OrderedJson JudgedTraffic(const AuditGang& gang, const Judged& judged) {
  OrderedJson traffic = plan::TrafficJson(judged.scores, gang.ranks);
  if (!gang.modelled) {
    traffic.erase("communicationMilliseconds");
    traffic.erase("busiestUplink");
  }
  traffic["levels"] = LevelsJson(judged.levels);
  return traffic;
}

const char* ModelSource(const AuditGang& gang) {
  if (!gang.modelled) return "Ring";
  return gang.placement.empty() ? "Annotations" : "Placement";
}

OrderedJson GangJson(const cluster::Cluster& cluster, const AuditGang& gang) {
  const cluster::ClusterFabric& on = cluster.fabrics[gang.fabric];
  OrderedJson out = {{"name", gang.key.name},   {"namespace", gang.key.space},
                     {"kind", gang.kind},       {"workers", gang.workers},
                     {"fabricName", on.name()}, {"model", ModelSource(gang)}};
  if (!gang.group.empty()) out["apiGroup"] = gang.group;
  if (!gang.placement.empty()) out["placementName"] = gang.placement;
  out["nodes"] = plan::NodeNamesJson(*on.fabric, gang.now.nodes);
  out["spans"] = plan::SpansJson(gang.now.scores);
  out["traffic"] = JudgedTraffic(gang, gang.now);
  if (gang.best) {
    out["best"] = {{"nodes", plan::NodeNamesJson(*on.fabric, gang.best->nodes)},
                   {"spans", plan::SpansJson(gang.best->scores)},
                   {"traffic", JudgedTraffic(gang, *gang.best)}};
    if (!gang.worse.empty()) out["worse"] = gang.worse;
  }
  const Int128 best = gang.best ? gang.best->cost : gang.now.cost;
  if (const auto percent = plan::CostOverLowerBoundPercent(gang.now.cost, best)) {
    out["costOverBestPercent"] = *percent;
  }
  for (const cluster::Note& note : gang.notes) {
    out["notes"].push_back({{"reason", note.reason}, {"message", note.text}});
  }
  return out;
}

OrderedJson TotalJson(const AuditReport::Total& total) {
  OrderedJson out = {{"gangs", total.gangs},
                     {"workers", total.workers},
                     {"crossNodeBytes", FormatBytes(total.cross_node_bytes)},
                     {"bestCrossNodeBytes", FormatBytes(total.best_cross_node_bytes)}};
  if (const auto percent = plan::CostOverLowerBoundPercent(total.cost, total.best_cost)) {
    out["costOverBestPercent"] = *percent;
  }
  out["levels"] = LevelsJson(total.levels);
  out["bestLevels"] = LevelsJson(total.best_levels);
  return out;
}

}  // namespace

OrderedJson AuditJson(const cluster::Cluster& cluster, const AuditReport& report) {
  OrderedJson out = {{"gangs", OrderedJson::array()}};
  for (const AuditGang& gang : report.gangs) out["gangs"].push_back(GangJson(cluster, gang));
  out["total"] = TotalJson(report.total);
  out["partlyStarted"] = HalfGangsJson(report.partly_started);
  if (!report.assumptions.empty()) out["assumptions"] = report.assumptions;
  if (report.modelled.gangs > 0 && report.rings.gangs > 0) {
    out["total"]["modelled"] = TotalJson(report.modelled);
    out["total"]["rings"] = TotalJson(report.rings);
  }
  return out;
}

}  // namespace weft::report
