#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "operator/api/job_record.h"
#include "operator/api/meta.h"
#include "operator/api/placement.h"
#include "operator/cluster/worker_order.h"

namespace weft::life {

// The fields of a Placement's status to write; other fields stay.
struct PlacementStatus {
  bool keeps_nodes = true;  // false: removes nodes, spans and traffic, to be placed again
  std::vector<api::Condition> conditions;
  std::vector<api::ExcludedNode> excluded;
  api::Retry retry;
  std::optional<cluster::Completed> completed = {};  // to be remembered from now on
};

// The JSON merge patch that turns the status of `stored` into `status`. Empty if nothing changes.
nlohmann::json PatchOf(const api::Placement& stored, const PlacementStatus& status);

}  // namespace weft::life
