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

// By the controller's owner reference. Of an object that no API server has stored (a file: it has
// no uid) the label weft.dev/job-name is believed too; on a stored one anybody may have written it.
std::optional<JobOwner> JobOwnerOf(const api::ObjectMeta& meta);

}  // namespace weft::decide
