#pragma once

#include <cstddef>
#include <string>

#include "operator/api/training_job.h"
#include "operator/framework/gang.h"
#include "operator/framework/host_name.h"

namespace weft::launch {

using framework::AddressOf;
using framework::Environment;
using framework::Gang;
using framework::GangLevel;
using framework::kFilesFolder;

// "<job>-<attempt>-weft": the name of the ConfigMap that is mounted in the pods.
std::string FilesName(const Gang& gang);

// /etc/weft/placement.json:
//   {"job", "namespace", "attempt", "workers", "gpusPerWorker",
//    "podGroup", "nodes": [of worker i], "environment": {of the fabric},
//    "levels": [{"name", "domains": [...], "ofWorker": [index into domains], "scaleUp": true}]}
// If it is longer than `bytes`, "nodes" is left out, which the Placement has too, then "levels".
std::string PlacementFile(const Gang& gang, std::size_t bytes);
// Sets levels, environment and pod_group from the file; any other text changes nothing.
void ReadPlacementFile(const std::string& text, Gang& gang);

}  // namespace weft::launch
