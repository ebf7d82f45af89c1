#pragma once

#include <vector>

#include "operator/api/decode.h"
#include "operator/api/inputs.h"
#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::manifest {

// Reads and decodes (api/decode.h) all sources in order. Duplicate objects are an error, and so are
// sources without a single document.
// Errors  kInvalid: "FILE: line 12: document 2: TrainingJob team-a/x: spec.workers.replicas: 0 must
//         be at least 1".
Result<api::Inputs> ReadInputs(const std::vector<Source>& sources, const Limits& limits = {},
                               api::Reading reading = api::Reading::kStrict);

}  // namespace weft::manifest
