#pragma once

#include "operator/api/failure_policy.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// spec.failurePolicy of a TrainingJob.
FailurePolicy DecodeFailurePolicy(const Field& field);

}  // namespace weft::api
