#pragma once

#include <cstdint>
#include <string>

#include "operator/api/meta.h"

namespace weft::api {

struct PriorityClass {
  Place place;
  ObjectMeta meta;
  std::int64_t value = 0;
  bool global_default = false;
  std::string preemption_policy = "PreemptLowerPriority";  // or Never
};

}  // namespace weft::api
