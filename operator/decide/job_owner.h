#pragma once

#include <optional>
#include <string>

#include "operator/api/meta.h"

namespace weft::decide {

// The TrainingJob that a pod or Placement belongs to.
struct JobOwner {
  std::string name;
  std::string uid;  // "" where only a label tells

  // Whether it is the job of that uid; "" is any.
  bool Is(const std::string& other) const { return uid.empty() || other.empty() || uid == other; }
};

// Found by the controller's owner reference. For an object of a file (it has no uid) the label
// weft.dev/job-name counts as well; on a stored object anybody may have written that label.
std::optional<JobOwner> JobOwnerOf(const api::ObjectMeta& meta);

}  // namespace weft::decide
