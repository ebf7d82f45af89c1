#pragma once

#include <optional>
#include <string>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/controllers/api_writer.h"

namespace weft::controllers {

// Sends worker 0 through all of admission, under a name that no attempt uses, and compares all
// workers with the namespace's quotas. Returns the reason of a refusal, or nothing.
Result<std::optional<std::string>> TryWorker(ApiWriter& writer, const api::TrainingJob& job);

}  // namespace weft::controllers
