#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/api/inputs.h"
#include "operator/api/namespace.h"
#include "operator/api/node.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/priority_class.h"
#include "operator/api/training_job.h"
#include "operator/predict/learned.h"

namespace weft::plan {

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
nlohmann::ordered_json LearnedStepsObject(const api::Inputs& inputs,
                                          const predict::LearnedScalars& learned);

}  // namespace weft::plan
