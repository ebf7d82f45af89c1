#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/base/result.h"

namespace weft::simulate {

// A change of the cluster or of the jobs, for a comparison with how they are.
struct Variation {
  std::optional<double> load;  // ScenarioOptions::load
  // Oversubscription of every link above the narrowest level, in percent: 400 is a taper of 4:1.
  std::optional<int> taper_percent;
  // GPUs in a scale-up domain: nodes that lie together in the narrowest level form one.
  std::optional<int> scale_up_gpus;
  std::optional<double> failures;  // FaultOptions::failures
  int more_racks = 0;              // copies of a whole domain of the narrowest level

  // "load 0.9, taper 400 %"; "" without a change.
  std::string Name() const;
};

// The axes of a sweep: "load=0.7,0.9", "taper=100,400", "nvlink=8,72", "failures=0,6.5".
//
// Errors  kInvalid, naming the flag: an unknown axis, no value, or one out of range.
// Returns  every combination of the values, the last axis changing fastest.
Result<std::vector<Variation>> ReadSweep(const std::vector<std::string>& axes);

// The inputs with the variation's nodes and links. `fabric`: which of the Fabric objects to change.
//
// Errors  kInvalid if there is no Fabric object, or the domains would not hold whole nodes.
Result<api::Inputs> Vary(api::Inputs inputs, const std::string& fabric, const Variation& variation);

}  // namespace weft::simulate
