#include "operator/launch/device_claims.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/framework/worker_container.h"
#include "operator/launch/metadata.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;
using api::kAcceleratorClaim;

std::string TemplateName(const Gang& gang) { return FilesName(gang) + "-devices"; }

void EraseClaim(Json& parent, const char* member) {
  if (!parent.contains(member) || !parent[member].is_array()) return;
  Json& claims = parent[member];
  for (std::size_t c = claims.size(); c-- > 0;) {
    if (claims[c].value("name", "") == kAcceleratorClaim) claims.erase(c);
  }
  if (claims.empty()) parent.erase(member);
}

}  // namespace

Json MakeClaimTemplate(const Gang& gang) {
  const api::Accelerator& accelerator = gang.job->accelerator;
  const Json request = {{"name", kAcceleratorClaim},
                        {"exactly",
                         {{"deviceClassName", accelerator.device_class},
                          {"allocationMode", "ExactCount"},
                          {"count", accelerator.per_worker}}}};
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", "ResourceClaimTemplate"},
          {"metadata",
           {{"name", TemplateName(gang)},
            {"namespace", gang.job->meta.key.space},
            {"labels", JobLabels(*gang.job)},
            {"ownerReferences", OwnedByPlacement(gang)}}},
          {"spec", {{"spec", {{"devices", {{"requests", Json::array({request})}}}}}}}};
}

void AddDeviceClaim(const Gang& gang, Json& spec) {
  if (gang.job->accelerator.device_class.empty()) return;
  Json& claims = spec["resourceClaims"];
  if (!claims.is_array()) claims = Json::array();
  claims.push_back(
      {{"name", kAcceleratorClaim}, {"resourceClaimTemplateName", TemplateName(gang)}});
  const Json& containers = spec.at("containers");
  if (std::any_of(containers.begin(), containers.end(), framework::NamesAcceleratorClaim)) return;
  Json* container = framework::WorkerContainer(*gang.job, spec);
  if (container == nullptr) return;
  Json& named = (*container)["resources"]["claims"];
  if (!named.is_array()) named = Json::array();
  named.push_back({{"name", kAcceleratorClaim}});
}

void CountDeviceClaim(const api::TrainingJob& job, Json& spec) {
  if (job.accelerator.device_class.empty()) return;
  Json* container = framework::WorkerContainer(job, spec);
  if (container == nullptr) return;
  const std::string resource =
      std::string(api::kClassResourcePrefix) + job.accelerator.device_class;
  const std::string count = std::to_string(job.accelerator.per_worker);
  for (const char* member : {"limits", "requests"})
    (*container)["resources"][member][resource] = count;
  EraseClaim(spec, "resourceClaims");
  for (Json& one : spec.at("containers")) {
    if (one.contains("resources")) EraseClaim(one["resources"], "claims");
  }
}

}  // namespace weft::launch
