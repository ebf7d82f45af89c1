#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/meta.h"
#include "operator/base/result.h"

namespace weft::api {

// The limits of a namespace, from the status of its ResourceQuota: a limit that is only in the spec
// is not in force yet.
struct ResourceQuota {
  ObjectMeta meta;
  bool scoped = false;  // it applies only to some pods
  struct Limit {
    std::int64_t hard = 0, used = 0;  // thousandths
  };
  std::map<std::string, Limit> limits;  // "pods", "requests.nvidia.com/gpu"
};

// Errors  kInvalid with the field's path, as in decode.h.
Result<ResourceQuota> DecodeResourceQuota(const nlohmann::json& object, const Place& place);

}  // namespace weft::api
