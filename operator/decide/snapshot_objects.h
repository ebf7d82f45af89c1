#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/kinds.h"
#include "operator/decide/learned.h"

namespace weft::decide {

// Objects reduced to the fields that Weft reads. A pod's containers become one container with the
// sum of their requests.
nlohmann::ordered_json NodeObject(const api::Node& node);
nlohmann::ordered_json PodObject(const api::Pod& pod);
nlohmann::ordered_json JobObject(const api::TrainingJob& job);
nlohmann::ordered_json PlacementObject(const api::Placement& placement);
nlohmann::ordered_json PriorityClassObject(const api::PriorityClass& priority_class);
nlohmann::ordered_json NamespaceObject(const api::Namespace& space);
// The ConfigMap weft-learned-steps of the inputs with what their measured jobs add to it. It names
// no jobs, because those of a snapshot have no measured steps.
nlohmann::ordered_json LearnedStepsObject(const api::Inputs& inputs, const LearnedScalars& learned);

}  // namespace weft::decide
