#include "operator/launch/gang.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_reader.h"
#include "operator/api/json_text.h"

namespace weft::launch {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson EncodeLevel(const GangLevel& level) {
  OrderedJson json = {
      {"name", level.name}, {"domains", level.domains}, {"ofWorker", level.of_worker.Items()}};
  if (level.scale_up) json["scaleUp"] = true;
  return json;
}

GangLevel DecodeLevel(const api::Field& field) {
  GangLevel level;
  level.name = field["name"].Require().Str();
  level.domains = field["domains"].Require().StrList();
  level.scale_up = field["scaleUp"].Bool();
  const auto last = static_cast<std::int64_t>(level.domains.size()) - 1;
  for (const api::Field& domain : field["ofWorker"].Items()) {
    level.of_worker.push_back(static_cast<std::uint32_t>(domain.Int({.min = 0, .max = last})));
  }
  return level;
}

}  // namespace

std::string FilesName(const Gang& gang) {
  return gang.job->meta.key.name + "-" + std::to_string(gang.attempt) + "-weft";
}

std::string PlacementFile(const Gang& gang, std::size_t bytes) {
  const api::TrainingJob& job = *gang.job;
  OrderedJson json = {{"job", job.meta.key.name},
                      {"namespace", job.meta.key.space},
                      {"attempt", gang.attempt},
                      {"workers", job.replicas},
                      {"gpusPerWorker", job.accelerator.per_worker},
                      {"nodes", gang.nodes.Items()}};
  if (!gang.pod_group.empty()) json["podGroup"] = gang.pod_group;
  json["environment"] = OrderedJson::object();
  for (const auto& [name, value] : gang.fabric) json["environment"][name] = value;
  json["levels"] = OrderedJson::array();
  for (const GangLevel& level : gang.levels) json["levels"].push_back(EncodeLevel(level));
  std::string text = api::JsonText(json);
  for (const char* part : {"nodes", "levels"}) {
    if (text.size() <= bytes) break;
    json.erase(part);
    text = api::JsonText(json);
  }
  return text;
}

void ReadPlacementFile(const std::string& text, Gang& gang) {
  const auto json = api::ParseJson(text);
  api::Decoding decoding(json, FilesName(gang));
  const api::Field root = decoding.Root();
  std::vector<GangLevel> levels;
  for (const api::Field& level : root["levels"].Items()) {
    levels.push_back(DecodeLevel(level));
    if (levels.back().of_worker.size() != gang.nodes.size()) level.Fail("is not of these workers");
  }
  Environment fabric;
  for (const api::Field& variable : root["environment"].Require().Members()) {
    fabric.emplace_back(variable.key(), variable.Str());
  }
  std::string pod_group = root["podGroup"].Str();
  if (decoding.failed()) return;
  gang.pod_group = std::move(pod_group);
  gang.levels = std::move(levels);
  gang.fabric = std::move(fabric);
}

}  // namespace weft::launch
