#include "operator/life/placement_status.h"

#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/life/status_patch.h"

namespace weft::life {

nlohmann::ordered_json PatchOf(const PlacementStatus& status) {
  nlohmann::ordered_json patch = {{"conditions", api::EncodeConditions(status.conditions)},
                                  {"excludedNodes", nullptr},
                                  {"retry", nullptr}};
  if (!status.excluded.empty()) {
    patch["excludedNodes"] = api::EncodeExcludedNodes(status.excluded);
  }
  if (status.retry.times > 0) patch["retry"] = api::EncodeRetry(status.retry);
  if (status.completed) {
    patch["completedJob"] = status.completed->job;
    patch["completedIndexes"] = status.completed->indexes;
  }
  if (!status.keeps_nodes) {
    patch["completedJob"] = patch["completedIndexes"] = nullptr;  // the Job is asked again
    for (const std::string_view key : kDecisionFields) patch[std::string(key)] = nullptr;
  }
  return patch;
}

}  // namespace weft::life
