#include <limits>
#include <nlohmann/json.hpp>

#include "operator/report/overview.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson FabricJson(const Overview::FabricRow& fabric) {
  OrderedJson nodes = OrderedJson::object();
  for (std::size_t use = 0; use < kNodeUses; ++use) {
    nodes[std::string(NodeUseName(static_cast<NodeUse>(use)))] = fabric.figures.nodes[use];
  }
  nodes["incomplete"] = fabric.incomplete;
  OrderedJson accelerators = OrderedJson::object(), products = OrderedJson::array();
  for (const auto& [of, count] : fabric.figures.accelerators) {
    const auto& [resource, product] = of;
    OrderedJson& sum = accelerators[resource];
    if (sum.is_null()) sum = {{"used", 0}, {"free", 0}, {"unavailable", 0}};
    const OrderedJson figures = {
        {"used", count.used}, {"free", count.free}, {"unavailable", count.unavailable}};
    for (const auto& [state, amount] : figures.items()) {
      sum[state] = sum[state].get<std::int64_t>() + amount.get<std::int64_t>();
    }
    if (product.empty()) continue;
    products.push_back({{"product", product}, {"resourceName", resource}});
    products.back().update(figures);
  }
  OrderedJson levels = OrderedJson::array();
  for (const FleetFigures::Level& level : fabric.figures.levels) {
    levels.push_back({{"name", level.name},
                      {"domains", level.domains},
                      {"largestFreeBlockNodes", level.largest_free_block}});
    for (const FleetFigures::Domain& domain : level.each) {
      levels.back()["each"].push_back(
          {{"name", domain.name}, {"nodes", domain.nodes}, {"freeNodes", domain.free_nodes}});
    }
  }
  OrderedJson out = {{"name", fabric.name},
                     {"nodes", std::move(nodes)},
                     {"accelerators", std::move(accelerators)}};
  if (!products.empty()) out["products"] = std::move(products);
  out["levels"] = std::move(levels);
  return out;
}

OrderedJson JobJson(const Overview::JobRow& job) {
  OrderedJson json = {{"namespace", job.key.space},
                      {"name", job.key.name},
                      {"kind", job.kind},
                      {"phase", job.phase},
                      {"workers", job.workers},
                      {"ready", job.ready},
                      {"accelerators", job.accelerators}};
  if (!job.spans.empty()) json["spans"] = job.spans;
  if (!job.cross_node.empty()) json["crossNode"] = job.cross_node;
  if (!job.of_best.empty()) json["ofBest"] = job.of_best;
  if (job.kind == "TrainingJob") {
    json["attempt"] = job.attempt;
    json["restarts"] = job.restarts;
  }
  if (job.age_seconds) json["ageSeconds"] = *job.age_seconds;
  if (!job.reason.empty()) json["reason"] = job.reason;
  if (!job.why.empty()) json["why"] = job.why;
  return json;
}

}  // namespace

OrderedJson FabricsJson(const cluster::Cluster& cluster) {
  OrderedJson fabrics = OrderedJson::array();
  for (const cluster::ClusterFabric& on : cluster.fabrics) {
    fabrics.push_back(
        FabricJson({on.name(), static_cast<std::int64_t>(on.fabric->incomplete().size()),
                    MeasureFleet(on, std::numeric_limits<std::uint32_t>::max())}));
  }
  return {{"fabrics", std::move(fabrics)}};
}

OrderedJson OverviewJson(const Overview& overview) {
  OrderedJson fabrics = OrderedJson::array(), jobs = OrderedJson::array();
  for (const Overview::FabricRow& fabric : overview.fabrics) fabrics.push_back(FabricJson(fabric));
  for (const Overview::JobRow& job : overview.jobs) jobs.push_back(JobJson(job));
  return {{"fabrics", std::move(fabrics)},
          {"jobs", std::move(jobs)},
          {"ended", {{"complete", overview.complete}, {"failed", overview.failed}}},
          {"otherAccelerators", overview.other_accelerators},
          {"partlyStarted", HalfGangsJson(overview.partly_started)}};
}

}  // namespace weft::report
