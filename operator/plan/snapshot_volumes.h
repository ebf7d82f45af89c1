#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "operator/api/inputs.h"

namespace weft::plan {

// The objects that tell where the volumes of the inputs' pods and jobs let them run, reduced to the
// fields that Weft reads: their claims, the volumes of these and free ones, StorageClasses and
// CSINodes. Nothing if no pod and no job names a claim.
std::vector<nlohmann::ordered_json> VolumeObjects(const api::Inputs& inputs);

}  // namespace weft::plan
