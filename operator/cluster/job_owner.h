#pragma once

#include <optional>
#include <string>

#include "operator/api/meta.h"

namespace weft::cluster {

// The TrainingJob that a pod or Placement belongs to.
struct JobOwner {
  std::string name;
  std::string uid;  // "" if only a label names the job

  // Whether this is the job with that uid; "" matches any.
  bool Is(const std::string& other) const { return uid.empty() || other.empty() || uid == other; }
};

// The owner by the controller's owner reference. For an object from a file (without a uid), the
// label weft.dev/job-name counts too; on a stored object anybody may have written that label.
std::optional<JobOwner> JobOwnerOf(const api::ObjectMeta& meta);

}  // namespace weft::cluster
