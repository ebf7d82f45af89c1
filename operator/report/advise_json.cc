#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/api/names.h"
#include "operator/report/advise.h"
#include "operator/report/outlook.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string RecomputationName(traffic::Recomputation value) {
  return std::string(api::kRecomputationNames[static_cast<std::size_t>(value)]);
}

OrderedJson LayoutJson(const AdvisedLayout& row) {
  const traffic::Parallelism& p = row.layout.parallelism;
  OrderedJson out;
  out["fabric"] = row.fabric;
  out["accelerator"] = row.accelerator;
  out["gpus"] = row.layout.ranks;
  out["nodes"] = row.nodes;
  if (row.spot_nodes > 0) out["spotNodes"] = row.spot_nodes;
  out["tensor"] = p.tensor;
  out["pipeline"] = p.pipeline;
  out["virtualPipeline"] = p.virtual_pipeline;
  out["context"] = p.context;
  out["expert"] = p.expert;
  out["data"] = row.layout.ranks / (p.tensor * p.pipeline * p.context);
  out["sharding"] = api::kShardingNames[static_cast<std::size_t>(p.sharding)];
  if (p.shard_group_size) out["shardGroupSize"] = *p.shard_group_size;
  out["microBatchSize"] = row.layout.model.micro_batch_size;
  out["activationRecomputation"] = RecomputationName(row.layout.model.recomputation);
  AddPrediction(row.prediction, out);
  out["memoryTight"] =
      row.prediction.memory.Total() > outlook::kTightMemory * row.prediction.capacity;
  AddReliability(row.reliability, out);
  out["costPerHour"] = row.cost_per_hour ? OrderedJson(*row.cost_per_hour) : OrderedJson(nullptr);
  if (row.days) out["days"] = *row.days;
  if (row.cost) out["cost"] = *row.cost;
  return out;
}

// A template for a bare model; the image is for the user to replace.
nlohmann::json TemplateOf(const std::string& resource, std::uint32_t per_worker) {
  return {{"spec",
           {{"containers",
             {{{"name", "trainer"},
               {"image", "registry.example/trainer:1"},
               {"resources", {{"limits", {{resource, per_worker}}}}}}}}}}};
}

}  // namespace

OrderedJson AdviceJson(const Advice& advice) {
  OrderedJson out = {{"job", advice.job}, {"tried", advice.tried}, {"fitting", advice.fitting}};
  if (!advice.currency.empty()) out["currency"] = advice.currency;
  out["assumed"] = {{"failuresPer1000NodeDays", advice.rates.per_1000_node_days},
                    {"interruptionsPer1000NodeDays", advice.rates.interruptions_per_1000_node_days},
                    {"checkpointSeconds", advice.rates.checkpoint_seconds},
                    {"restartSeconds", advice.rates.restart_seconds}};
  if (!advice.why_none.empty()) out["whyNone"] = advice.why_none;
  out["layouts"] = OrderedJson::array();
  for (const AdvisedLayout& row : advice.layouts) out["layouts"].push_back(LayoutJson(row));
  if (advice.as_written) out["asWritten"] = LayoutJson(*advice.as_written);
  out["lifts"] = OrderedJson::array();
  for (const Lift& lift : advice.lifts) {
    out["lifts"].push_back({{"change", lift.change}, {"gain", lift.gain}});
  }
  return out;
}

OrderedJson AdvisedJob(const cluster::Cluster& cluster, const Advice& advice,
                       const AdvisedLayout& row) {
  const api::TrainingJob& job = cluster.inputs->jobs[advice.index];
  const nlohmann::json& raw = *job.raw;
  OrderedJson out = {{"apiVersion", raw.at("apiVersion").get<std::string>()},
                     {"kind", raw.at("kind").get<std::string>()}};
  for (const char* key : {"name", "namespace", "labels", "annotations"}) {
    const auto found = raw.at("metadata").find(key);
    if (found != raw.at("metadata").end()) out["metadata"][key] = OrderedJson(*found);
  }
  nlohmann::json spec = raw.at("spec");
  if (cluster.fabrics.size() > 1) spec["fabricName"] = row.fabric;
  spec["workers"]["replicas"] = row.layout.ranks / row.per_worker;
  if (advice.no_template) {
    spec["workers"]["template"] = TemplateOf(job.accelerator.resource_name, row.per_worker);
  }
  nlohmann::json& model = spec["model"]["transformer"];
  model["microBatchSize"] = row.layout.model.micro_batch_size;
  model["activationRecomputation"] = RecomputationName(row.layout.model.recomputation);
  spec["parallelism"] = nlohmann::json(api::EncodeParallelism(row.layout.parallelism));
  out["spec"] = OrderedJson(spec);
  return out;
}

}  // namespace weft::report
