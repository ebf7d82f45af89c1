#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/api/admission.h"
#include "operator/api/training_job.h"
#include "operator/base/result.h"
#include "operator/controllers/api_writer.h"

namespace weft::controllers {

// The node that worker 0 is pinned to in a dry run.
inline constexpr const char* kTrialNode = "not-placed-yet";

// The outcome of a dry run.
struct WorkerTrial {
  std::optional<std::string> refusal;       // the reason; nothing: accepted
  std::optional<api::Admission> admission;  // of this generation; nothing: it changed nothing
  nlohmann::json pod;                       // worker 0 as admission made it; null if refused
};

// Sends worker 0 through all of admission, under a name that no attempt uses, and compares all
// workers with the namespace's quotas.
Result<WorkerTrial> TryWorker(ApiWriter& writer, const api::TrainingJob& job);

}  // namespace weft::controllers
