#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/api/training_job.h"

namespace weft::life {

// Whether only Weft may set the environment variable in pods of that framework: WEFT_*, and
// variables that define the ranks. A user's value would permute the ranks, and the placement would
// be wrong.
bool IsReservedVariable(const api::Framework& framework, std::string_view name);

// A use of a reserved name in the template.
struct ReservedUse {
  std::string field;    // "spec.workers.template.spec.containers[0].env[2].name"
  std::string message;  // a sentence
};

// The first use of a reserved name: a variable, the volume weft or weft-shm, a mount below
// /etc/weft, or the container weft-verify. Nothing for a job that was not read from an
// object.
std::optional<ReservedUse> FindReservedUse(const api::TrainingJob& job);

}  // namespace weft::life
