#pragma once

#include "operator/api/failure_policy.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// spec.failurePolicy of a TrainingJob, whose rules may name containers of the template's pod spec.
FailurePolicy DecodeFailurePolicy(const Field& field, const Field& pod_spec);

}  // namespace weft::api
