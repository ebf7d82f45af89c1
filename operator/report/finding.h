#pragma once

#include <string>

#include "operator/cluster/note.h"

namespace weft::report {

// What lint found on one object.
struct Finding {
  cluster::Severity severity = cluster::Severity::kInfo;
  std::string place;    // "jobs.yaml: document 2: TrainingJob team-a/x"
  std::string field;    // "spec.parallelism.tensor"
  std::string reason;   // "TensorLeavesScaleUp", "NeverFits", ...
  std::string message;  // a sentence

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace weft::report
