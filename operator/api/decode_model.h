#pragma once

#include <optional>

#include "operator/api/json_reader.h"
#include "operator/traffic/spec.h"

namespace weft::api {

// spec.model; nothing if absent or empty. Errors are noted at their field. The microBatchSize of a
// bare model (Reading::kModel) may be absent, and is then 1.
enum class ModelOf { kJob, kBare };
std::optional<traffic::Model> DecodeModel(const Field& model, ModelOf of = ModelOf::kJob);

// spec.parallelism. traffic::CheckShape checks that the degrees divide the world.
traffic::Parallelism DecodeParallelism(const Field& parallelism);

}  // namespace weft::api
