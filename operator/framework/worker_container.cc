#include "operator/framework/worker_container.h"

#include <nlohmann/json.hpp>

namespace weft::framework {

nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec) {
  auto& containers = spec.at("containers");
  for (nlohmann::json& container : containers) {
    const nlohmann::json limits = container.value("resources", nlohmann::json::object())
                                      .value("limits", nlohmann::json::object());
    if (limits.contains(job.accelerator.resource_name)) return &container;
  }
  return containers.empty() ? nullptr : &containers.front();
}

}  // namespace weft::framework
