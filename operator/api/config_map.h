#pragma once

#include <map>
#include <string>

#include "operator/api/meta.h"

namespace weft::api {

// The name of the ConfigMap that says what measured steps have taught (predict/learned_step.h).
inline constexpr const char* kLearnedSteps = "weft-learned-steps";

struct ConfigMap {
  Place place;
  ObjectMeta meta;
  std::map<std::string, std::string> data;
};

}  // namespace weft::api
