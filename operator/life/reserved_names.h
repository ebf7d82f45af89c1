#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/api/kinds.h"

namespace weft::life {

// Whether Weft alone sets the variable in pods of that framework: WEFT_*, and what says which rank
// runs where. A user's own value would permute the ranks that the placement was made for.
bool IsReservedVariable(const api::Framework& framework, std::string_view name);

// Something in the template that has a name of Weft's own.
struct ReservedUse {
  std::string field;    // "spec.workers.template.spec.containers[0].env[2].name"
  std::string message;  // a sentence
};

// The first one: a variable, the volume weft or weft-shm, what is mounted below /etc/weft, or the
// container weft-verify.
// Nothing for a job that was not read from an object.
std::optional<ReservedUse> FindReservedUse(const api::TrainingJob& job);

}  // namespace weft::life
