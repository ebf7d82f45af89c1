#include "operator/life/placement_status.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/api/encode.h"
#include "operator/life/status_patch.h"

namespace weft::life {

using Json = nlohmann::json;

Json PatchOf(const api::Placement& stored, const PlacementStatus& status) {
  std::vector<std::string_view> own = {"conditions", "excludedNodes", "retry"};
  Json after = Json::object();
  if (!status.conditions.empty()) after["conditions"] = api::EncodeConditions(status.conditions);
  if (!status.excluded.empty()) after["excludedNodes"] = api::EncodeExcludedNodes(status.excluded);
  if (status.retry.times > 0) after["retry"] = api::EncodeRetry(status.retry);
  if (!status.keeps_nodes) {
    own.insert(own.end(), kDecisionFields.begin(), kDecisionFields.end());
    own.insert(own.end(), {"completedJob", "completedIndexes"});  // the Job is asked again
  } else if (status.completed) {
    after["completedJob"] = status.completed->job;
    after["completedIndexes"] = status.completed->indexes;
  }
  const Json before = stored.raw ? stored.raw->value("status", Json()) : Json();
  Json patch = StatusPatch(before, after, own, kInnerFields);
  return patch.is_null() ? Json::object() : patch;
}

}  // namespace weft::life
