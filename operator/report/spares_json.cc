#include <nlohmann/json.hpp>

#include "operator/report/outlook.h"
#include "operator/report/spares.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson RateJson(const outlook::AwayRate& rate) {
  return {{"failuresPer1000Days", rate.per_1000_days}, {"repairSeconds", rate.repair_seconds}};
}

OrderedJson LossJson(const DomainLoss& loss) {
  OrderedJson out = {{"level", loss.level}, {"nodes", loss.nodes}, {"covered", loss.covered}};
  if (loss.away) {
    out["awayShare"] = *loss.away;
    if (!loss.covered) out["sparesPay"] = loss.pays;
  }
  return out;
}

OrderedJson LevelJson(const SparePool& pool, const SpareLevel& level) {
  OrderedJson out = {{"level", level.level},
                     {"nodes", level.nodes},
                     {"rho", level.rho},
                     {"p99", level.p99},
                     {"best", level.best},
                     {"checkpointIntervalSeconds", level.reliability.checkpoint_interval_seconds},
                     {"fabric", pool.fabric}};
  if (!pool.accelerator.empty()) out["accelerator"] = pool.accelerator;
  out["domains"] = level.domains;
  out["spares"] = level.total;
  out["idleShare"] = level.idle_share;
  out["waitsWithNone"] = level.waits_without;
  out["waitsWithBest"] = level.waits_with;
  out["goodputWithNone"] = level.goodput_without;
  out["goodputWithBest"] = level.goodput_with;
  if (!level.required.empty()) out["requiredBy"] = level.required;
  out["losses"] = OrderedJson::array();
  for (const DomainLoss& loss : level.losses) out["losses"].push_back(LossJson(loss));
  return out;
}

OrderedJson JobJson(const SpareJob& job) {
  OrderedJson out = {{"job", job.job},   {"fabric", job.fabric}, {"nodes", job.nodes},
                     {"held", job.held}, {"level", job.level},   {"domains", job.domains},
                     {"rho", job.rho},   {"p99", job.p99},       {"best", job.best}};
  out["spares"] = job.total;
  AddReliability(job.reliability, out);
  return out;
}

OrderedJson FailuresJson(const FabricFailures& one) {
  OrderedJson out = {{"fabric", one.fabric}, {"node", RateJson(one.model.node)}};
  if (!one.model.from.empty()) out["from"] = one.model.from;
  if (!one.model.repair_from.empty()) out["repairFrom"] = one.model.repair_from;
  out["assumed"] = one.model.assumed;
  out["shareWithoutNode"] = one.model.share_without_node;
  out["levels"] = OrderedJson::object();
  for (const LevelRate& level : one.model.levels) out["levels"][level.level] = RateJson(level.rate);
  return out;
}

}  // namespace

OrderedJson SparesJson(const SpareAdvice& advice) {
  OrderedJson out = {{"levels", OrderedJson::array()}, {"jobs", OrderedJson::array()}};
  for (const SparePool& pool : advice.pools) {
    for (const SpareLevel& level : pool.levels) out["levels"].push_back(LevelJson(pool, level));
  }
  for (const SpareJob& job : advice.jobs) out["jobs"].push_back(JobJson(job));
  out["refused"] = OrderedJson::array();
  for (const RefusedJob& job : advice.refused) out["refused"].push_back({{"message", job.message}});
  out["failures"] = OrderedJson::array();
  for (const FabricFailures& one : advice.failures) out["failures"].push_back(FailuresJson(one));
  out["assumed"] = {{"checkpointSeconds", advice.rates.checkpoint_seconds},
                    {"restartSeconds", advice.rates.restart_seconds}};
  return out;
}

}  // namespace weft::report
