#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/pod.h"
#include "operator/base/worker_index.h"

namespace weft::launch {

// Pins a PodSpec to the node: adds a required affinity on metadata.name to every term that it has,
// because terms are alternatives.
void PinTo(const std::string& node, nlohmann::json& spec);

// Takes the pin of PinTo off again. A term that was only the pin allows every node, so then the
// whole required affinity goes.
void Unpin(const std::string& node, nlohmann::json& spec);

// The place of another controller's pod, applied when the pod's gate is removed.
struct PodAssignment {
  std::string placement_uid;
  WorkerIndex worker;
  std::string node;
};

// One merge patch that pins the pod to its node, removes the gate, and annotates Placement and
// worker. It contains whole lists, so it is valid only for this state of the pod (uid and
// resourceVersion). The API server allows only additions to the affinity terms of a gated pod
// (KEP-3838).
nlohmann::json UngatePatch(const api::Pod& pod, const PodAssignment& assignment);

// The merge patch that only removes the gate.
nlohmann::json FreePatch(const api::Pod& pod);

}  // namespace weft::launch
