#pragma once

#include "operator/api/failure_policy.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// spec.failurePolicy of a TrainingJob. Its rules may name containers of this pod spec only, as
// those of a Job; null: any. A job with an attempt is not refused for that: admission may have
// added the container, and its gang must be followed.
FailurePolicy DecodeFailurePolicy(const Field& field, const Field* pod_spec);

}  // namespace weft::api
