#include <nlohmann/json.hpp>

#include "operator/base/quantity.h"
#include "operator/placement/relax.h"
#include "operator/plan/status.h"
#include "operator/report/explain.h"

namespace weft::report {
namespace {

using plan::PlanEntry;

using OrderedJson = nlohmann::ordered_json;

constexpr Int128 kFemtosecondsPerMicrosecond = 1'000'000'000;

// A cost C, as whole microseconds of link time.
std::int64_t Microseconds(Int128 cost) {
  return static_cast<std::int64_t>(cost / kFemtosecondsPerMicrosecond);
}

OrderedJson BlastJson(const std::vector<BlastRadius>& radii) {
  OrderedJson all = OrderedJson::array();
  for (const BlastRadius& radius : radii) {
    OrderedJson one = {
        {"level", radius.level}, {"domain", radius.domain}, {"workers", radius.workers}};
    if (radius.stages > 0) one["pipelineStages"] = radius.stages;
    one["computed"] = radius.computed;
    if (radius.computed) one["survived"] = radius.survived;
    if (radius.survived) one["into"] = radius.into;
    if (radius.survived) one["healthyWorkersMoved"] = radius.also_move;
    if (!radius.survived) one["whyNot"] = radius.why_not;
    all.push_back(std::move(one));
  }
  return all;
}

void AddPlaced(const cluster::Cluster& cluster, const PlanEntry& entry, const Explanation& one,
               OrderedJson& out) {
  const plan::Placed& placed = *entry.placed();
  out["nodes"] = plan::NodeNamesJson(*cluster.fabrics[*entry.fabric].fabric, placed.plan.nodes);
  out["spans"] = plan::SpansJson(placed.scores);
  OrderedJson shares = OrderedJson::array();
  for (const CostShare& share : one.cost) {
    shares.push_back({{"axis", traffic::AxisName(share.axis)},
                      {"level", share.level},
                      {"bytes", FormatBytes(share.bytes)},
                      {"linkTimeMicroseconds", Microseconds(share.cost)}});
    if (share.crossed > share.bytes) shares.back()["hops"] = Hops(share);
  }
  out["cost"] = std::move(shares);
  out["linkTimeMicroseconds"] = Microseconds(one.total_cost);
  out["lowerBoundMicroseconds"] = Microseconds(one.lower_bound);
  if (one.over_lower_bound_percent) {
    out["costOverLowerBoundPercent"] = *one.over_lower_bound_percent;
  }
  out["exact"] = one.exact;
  out["because"] = one.why_here;
  if (!one.blast.empty()) out["blastRadius"] = BlastJson(one.blast);
  if (!one.runner_up) return;
  out["runnerUp"] = {{"nodes", one.runner_up->nodes},
                     {"spans", one.runner_up->spans},
                     {"whyNot", one.runner_up->why_not}};
  if (one.runner_up->cost_percent) out["runnerUp"]["costPercent"] = *one.runner_up->cost_percent;
}

void AddRefused(const PlanEntry& entry, const Explanation& one, OrderedJson& out) {
  out["reason"] = entry.refused()->reason;
  out["message"] = entry.refused()->message;
  OrderedJson domains = OrderedJson::array(), relaxations = OrderedJson::array();
  for (const DomainAnswer& domain : one.domains) {
    domains.push_back({{"domain", domain.domain},
                       {"nodes", domain.nodes},
                       {"slots", domain.slots},
                       {"wanted", domain.wanted},
                       {"message", domain.sentence}});
  }
  for (const placement::Relaxation& relaxation : one.relaxations) {
    relaxations.push_back({{"constraint", relaxation.constraint},
                           {"change", relaxation.change},
                           {"linkTimeMicroseconds", Microseconds(relaxation.cost)}});
  }
  out["level"] = one.level;
  out["domains"] = std::move(domains);
  out["relaxations"] = std::move(relaxations);
}

}  // namespace

OrderedJson ExplainJson(const cluster::Cluster& cluster, const plan::PlanReport& report,
                        const std::vector<Explanation>& explanations) {
  OrderedJson all = OrderedJson::array();
  for (const Explanation& one : explanations) {
    const PlanEntry& entry = report.entries[one.entry];
    const api::ObjectKey& key = entry.workload.key();
    OrderedJson out = {{"namespace", key.space},
                       {"name", key.name},
                       {"workers", entry.workload.workers},
                       {"placed", entry.placed() != nullptr}};
    if (entry.fabric) out["fabricName"] = cluster.fabrics[*entry.fabric].name();
    if (entry.placed() != nullptr) {
      AddPlaced(cluster, entry, one, out);
    } else {
      AddRefused(entry, one, out);
    }
    all.push_back(std::move(out));
  }
  return {{"explanations", std::move(all)}};
}

}  // namespace weft::report
