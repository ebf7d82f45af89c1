#include "operator/launch/compute_domain.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/framework/worker_container.h"
#include "operator/launch/metadata.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

constexpr const char* kChannelClaim = "compute-domain-channel";

// Whether two workers of one domain are on different nodes.
bool JoinsNodes(const GangLevel& level, const ByWorker<std::string>& nodes) {
  std::vector<const std::string*> first(level.domains.size(), nullptr);
  for (WorkerIndex w; w < level.of_worker.EndIndex() && w < nodes.EndIndex(); ++w) {
    const std::string*& seen = first[level.of_worker[w]];
    if (seen != nullptr && *seen != nodes[w]) return true;
    seen = &nodes[w];
  }
  return false;
}

void AddClaim(Json& container) {
  Json& claims = container["resources"]["claims"];
  if (!claims.is_array()) claims = Json::array();
  claims.push_back({{"name", kChannelClaim}});
}

}  // namespace

bool NeedsComputeDomain(const Gang& gang) {
  if (!gang.job->topology.compute_domain) return false;
  for (const GangLevel& level : gang.levels) {
    if (level.scale_up && JoinsNodes(level, gang.nodes)) return true;
  }
  return false;
}

Json MakeComputeDomain(const Gang& gang) {
  const api::ObjectMeta& job = gang.job->meta;
  const std::string name = FilesName(gang);
  const std::set<std::string> nodes(gang.nodes.begin(), gang.nodes.end());
  return {
      {"apiVersion", "resource.nvidia.com/v1beta1"},
      {"kind", "ComputeDomain"},
      {"metadata",
       {{"name", name}, {"namespace", job.key.space}, {"labels", JobLabels(*gang.job)}}},
      {"spec",
       {{"numNodes", nodes.size()},
        {"channel", {{"resourceClaimTemplate", {{"name", name}}}, {"allocationMode", "Single"}}}}}};
}

void AddComputeDomainClaim(const Gang& gang, Json& spec) {
  if (!NeedsComputeDomain(gang)) return;
  Json& claims = spec["resourceClaims"];
  if (!claims.is_array()) claims = Json::array();
  claims.push_back({{"name", kChannelClaim}, {"resourceClaimTemplateName", FilesName(gang)}});
  bool any = false;
  Json& containers = spec.at("containers");
  for (Json& container : containers) {
    if (!framework::HasAccelerators(*gang.job, container)) continue;
    AddClaim(container);
    any = true;
  }
  if (!any && !containers.empty()) AddClaim(containers.front());
}

}  // namespace weft::launch
