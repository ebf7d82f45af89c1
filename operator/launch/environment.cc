#include "operator/launch/environment.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace weft::launch {
namespace {

using Json = nlohmann::json;

bool Has(const Environment& environment, const std::string& name) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const auto& variable) { return variable.first == name; });
}

void AddTo(const Environment& environment, const Environment& defaults, Json& container) {
  Json merged = Json::array();
  for (const auto& [name, value] : environment) {
    merged.push_back({{"name", name}, {"value", value}});
  }
  Environment own;
  const auto list = container.find("env");
  const bool any = list != container.end() && list->is_array();
  if (any) {
    for (const Json& variable : *list) own.emplace_back(variable.value("name", ""), "");
  }
  for (const auto& [name, value] : defaults) {
    if (!Has(own, name)) merged.push_back({{"name", name}, {"value", value}});
  }
  if (any) {
    for (const Json& variable : *list) {
      if (!Has(environment, variable.value("name", ""))) merged.push_back(variable);
    }
  }
  container["env"] = std::move(merged);
}

// Whether one of the options "<option>=<value>,..." is this one.
bool SetsOption(const std::string& options, const std::string& option) {
  std::istringstream list(options);
  for (std::string one; std::getline(list, one, ',');) {
    const std::size_t begin = one.find_first_not_of(" \t");
    if (begin == one.npos) continue;
    const std::size_t equals = one.find('=', begin);
    std::string name = one.substr(begin, equals == one.npos ? one.npos : equals - begin);
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name == option) return true;
  }
  return false;
}

void AddOption(const std::string& name, const std::string& option, Json& container) {
  Json& list = container["env"];
  if (!list.is_array()) list = Json::array();
  const auto own = std::find_if(list.begin(), list.end(), [&](const Json& variable) {
    return variable.value("name", "") == name;
  });
  if (own == list.end()) {
    const Json variable = {{"name", name}, {"value", option}};
    list.insert(list.begin(), variable);
    return;
  }
  const std::string set = own->value("value", "");
  if (own->contains("valueFrom") || SetsOption(set, option.substr(0, option.find('=')))) return;
  const bool blank = set.find_first_not_of(" \t") == set.npos;
  (*own)["value"] = blank ? option : option + "," + set;
}

// The name in the form of a variable: "nvlink.domain" becomes "NVLINK_DOMAIN".
std::string AsVariable(std::string name) {
  for (char& c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    c = lower ? static_cast<char>(c - 'a' + 'A') : kept ? c : '_';
  }
  return name;
}

}  // namespace

Environment WorkerEnvironment(const Gang& gang, WorkerIndex worker) {
  const api::TrainingJob& job = *gang.job;
  const std::uint64_t per_worker = job.accelerator.per_worker;
  Environment environment = {
      {"WEFT_JOB", job.meta.key.name},
      {"WEFT_NAMESPACE", job.meta.key.space},
      {"WEFT_ATTEMPT", std::to_string(gang.attempt)},
      {"WEFT_WORKERS", std::to_string(job.replicas)},
      {"WEFT_WORKER_INDEX", std::to_string(worker.Raw())},
      {"WEFT_GPUS_PER_WORKER", std::to_string(per_worker)},
      {"WEFT_WORLD_SIZE", std::to_string(per_worker * job.replicas)},
      {"WEFT_FIRST_RANK", std::to_string(per_worker * worker.Raw())},
      {"WEFT_NODE", gang.nodes[worker]},
      {"WEFT_HOST", AddressOf(job, worker)},
      {"WEFT_MASTER_ADDR", AddressOf(job, WorkerIndex{0})},
      {"WEFT_MASTER_PORT", std::to_string(job.framework.port)},
      {"WEFT_PLACEMENT_FILE", std::string(kFilesFolder) + "/placement.json"}};
  for (const GangLevel& level : gang.levels) {
    environment.emplace_back("WEFT_DOMAIN_" + AsVariable(level.name),
                             level.domains[level.of_worker[worker]]);
  }
  return environment;
}

void AddEnvironment(const Environment& environment, const Environment& defaults, Json& spec) {
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) AddTo(environment, defaults, container);
  }
}

void AddOptions(const Environment& options, Json& container) {
  for (const auto& [name, option] : options) AddOption(name, option, container);
}

}  // namespace weft::launch
