#include "operator/launch/metadata.h"

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/names.h"
#include "operator/cluster/placement_pods.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

}  // namespace

Json OwnedBy(const api::TrainingJob& job) {
  return Json::array({{{"apiVersion", std::string(api::kGroup) + "/" + api::kVersion},
                       {"kind", "TrainingJob"},
                       {"name", job.meta.key.name},
                       {"uid", job.meta.uid},
                       {"controller", true},
                       {"blockOwnerDeletion", true}}});
}

Json OwnedByPlacement(const Gang& gang) {
  return Json::array({{{"apiVersion", std::string(api::kGroup) + "/" + api::kVersion},
                       {"kind", "Placement"},
                       {"name", gang.job->meta.key.name + "-" + std::to_string(gang.attempt)},
                       {"uid", gang.placement_uid}}});
}

Json JobLabels(const api::TrainingJob& job) {
  return {{api::kJobNameLabel, job.meta.key.name}, {cluster::kJobUidLabel, job.meta.uid}};
}

}  // namespace weft::launch
