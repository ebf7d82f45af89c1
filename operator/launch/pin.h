#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/kinds.h"

namespace weft::launch {

// Ties a PodSpec to the node: a required affinity on metadata.name in every term that it has, for
// terms are alternatives.
void PinTo(const std::string& node, nlohmann::json& spec);

// The placement of a pod of another controller, which is applied when its gate is removed.
struct Seat {
  std::string placement_uid;
  std::uint32_t worker = 0;
  std::string node;
};

// The merge patch that ties the pod to its node, removes the gate and notes for whom, at once. It
// contains whole lists, so it may be applied only to this state of the pod (uid and
// resourceVersion). The API server lets a gated pod's terms only be added to (KEP-3838).
nlohmann::json UngatePatch(const api::Pod& pod, const Seat& seat);

}  // namespace weft::launch
