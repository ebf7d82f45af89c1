#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/training_job.h"

namespace weft::launch {

using Environment = std::vector<std::pair<std::string, std::string>>;

// The domains of one level that a gang uses.
struct GangLevel {
  std::string name;
  std::vector<std::string> domains;      // in the order in which workers first use them
  std::vector<std::uint32_t> of_worker;  // index into domains
  bool scale_up = false;                 // the gang uses the scale-up network inside its domains

  friend bool operator==(const GangLevel&, const GangLevel&) = default;
};

// One attempt of a job with its placement; its pods are made from it. Once the attempt's ConfigMap
// exists, the values are read from it, so that all pods of the attempt get the same ones.
struct Gang {
  const api::TrainingJob* job = nullptr;
  std::int64_t attempt = 1;
  std::string placement_uid;
  std::vector<std::string> nodes;  // by worker
  std::vector<GangLevel> levels;   // widest first, without the node
  Environment fabric;              // variables of the network's libraries (fabric_environment.h)
  std::string verify_image;        // "": no init container (verify_container.h)
  api::Raw queue = {};             // status.queue of the job: what its quota adds; null: nothing
};

// "<job>-<attempt>-weft": the name of the ConfigMap that is mounted in the pods.
std::string FilesName(const Gang& gang);

// "<host name>.<job>": the worker's DNS name inside its namespace.
std::string AddressOf(const api::TrainingJob& job, std::uint32_t worker);

// /etc/weft/placement.json:
//   {"job", "namespace", "attempt", "workers", "gpusPerWorker",
//    "nodes": [of worker i], "environment": {of the fabric},
//    "levels": [{"name", "domains": [...], "ofWorker": [index into domains], "scaleUp": true}]}
// If it is longer than `bytes`, "nodes" is left out, which the Placement has too, then "levels".
std::string PlacementFile(const Gang& gang, std::size_t bytes);
// Sets levels and environment from the file; any other text changes nothing.
void ReadPlacementFile(const std::string& text, Gang& gang);

}  // namespace weft::launch
