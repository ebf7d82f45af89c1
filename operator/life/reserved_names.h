#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/api/kinds.h"

namespace weft::life {

// Whether only Weft sets the variable in pods of that framework: WEFT_*, and variables that decide
// the ranks. A user's value would permute the ranks that the placement was made for.
bool IsReservedVariable(const api::Framework& framework, std::string_view name);

// A use of a reserved name in the template.
struct ReservedUse {
  std::string field;    // "spec.workers.template.spec.containers[0].env[2].name"
  std::string message;  // a sentence
};

// The first one: a variable, the volume weft or weft-shm, what is mounted below /etc/weft, or the
// container weft-verify.
// Nothing for a job that was not read from an object.
std::optional<ReservedUse> FindReservedUse(const api::TrainingJob& job);

}  // namespace weft::life
