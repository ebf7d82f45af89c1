#pragma once

#include <optional>

#include "operator/api/checkpoint.h"
#include "operator/api/job_record.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// spec.checkpoint of a TrainingJob; nothing if it is absent.
std::optional<CheckpointSpec> DecodeCheckpoint(const Field& field);

// The members checkpoint, recovery and lost of a TrainingJob's status.
void DecodeLosses(const Field& status, JobRecord& record);

}  // namespace weft::api
