#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/training_job.h"
#include "operator/base/worker_index.h"

namespace weft::framework {

inline constexpr const char* kFilesFolder = "/etc/weft";

using Environment = std::vector<std::pair<std::string, std::string>>;

// The domains of one level that a gang uses.
struct GangLevel {
  std::string name;
  std::vector<std::string> domains;   // in the order in which workers first use them
  ByWorker<std::uint32_t> of_worker;  // index into domains
  bool scale_up = false;              // the gang uses the scale-up network inside its domains

  friend bool operator==(const GangLevel&, const GangLevel&) = default;
};

// One attempt of a job with its placement; its pods are made from it. Once the attempt's ConfigMap
// exists, the values are read from it, so that all pods of the attempt get the same ones.
struct Gang {
  const api::TrainingJob* job = nullptr;
  std::int64_t attempt = 1;
  std::string placement_uid;
  ByWorker<std::string> nodes;
  std::vector<GangLevel> levels;  // widest first, without the node
  Environment fabric;          // variables of the network's libraries (launch/fabric_environment.h)
  std::string verify_image;    // "": no init container (launch/verify_container.h)
  std::string pod_group = {};  // that the pods are in; "": none
  api::Raw queue = {};         // status.queue of the job: what its quota adds; null: nothing
};

}  // namespace weft::framework
