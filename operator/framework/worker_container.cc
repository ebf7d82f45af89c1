#include "operator/framework/worker_container.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::framework {

using Json = nlohmann::json;

bool NamesAcceleratorClaim(const Json& container) {
  const Json claims = container.value("resources", Json::object()).value("claims", Json::array());
  return std::any_of(claims.begin(), claims.end(), [](const Json& claim) {
    return claim.is_object() && claim.value("name", "") == api::kAcceleratorClaim;
  });
}

bool HasAccelerators(const api::TrainingJob& job, const Json& container) {
  if (!job.accelerator.device_class.empty()) return NamesAcceleratorClaim(container);
  return container.value("resources", Json::object())
      .value("limits", Json::object())
      .contains(job.accelerator.resource_name);
}

Json* WorkerContainer(const api::TrainingJob& job, Json& spec) {
  Json& containers = spec.at("containers");
  for (Json& container : containers) {
    if (HasAccelerators(job, container)) return &container;
  }
  return containers.empty() ? nullptr : &containers.front();
}

}  // namespace weft::framework
