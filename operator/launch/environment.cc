#include "operator/launch/environment.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::launch {
namespace {

using Json = nlohmann::json;

void AddTo(const Environment& environment, Json& container) {
  Json merged = Json::array();
  for (const auto& [name, value] : environment) {
    merged.push_back({{"name", name}, {"value", value}});
  }
  const auto is_set = [&](const std::string& name) {
    return std::any_of(environment.begin(), environment.end(),
                       [&](const auto& variable) { return variable.first == name; });
  };
  if (const auto own = container.find("env"); own != container.end() && own->is_array()) {
    for (const Json& variable : *own) {
      if (!is_set(variable.value("name", ""))) merged.push_back(variable);
    }
  }
  container["env"] = std::move(merged);
}

}  // namespace

Environment WorkerEnvironment(const api::TrainingJob& job, const Worker& worker) {
  const std::uint64_t per_worker = job.accelerator.per_worker;
  return {{"WEFT_JOB", job.meta.key.name},
          {"WEFT_NAMESPACE", job.meta.key.space},
          {"WEFT_ATTEMPT", std::to_string(worker.attempt)},
          {"WEFT_WORKERS", std::to_string(job.replicas)},
          {"WEFT_WORKER_INDEX", std::to_string(worker.index)},
          {"WEFT_GPUS_PER_WORKER", std::to_string(per_worker)},
          {"WEFT_WORLD_SIZE", std::to_string(per_worker * job.replicas)},
          {"WEFT_FIRST_RANK", std::to_string(per_worker * worker.index)},
          {"WEFT_NODE", worker.node},
          {"WEFT_MASTER_ADDR", HostName(job, 0) + "." + job.meta.key.name}};
}

void AddEnvironment(const Environment& environment, Json& spec) {
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) AddTo(environment, container);
  }
}

}  // namespace weft::launch
