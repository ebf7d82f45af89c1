#pragma once

#include <optional>
#include <string>

#include "operator/api/meta.h"
#include "operator/base/result.h"
#include "operator/cli/commands.h"
#include "operator/kube/client.h"

namespace weft::cli {

// What `weft verify --step` has found and done.
struct StepReport {
  std::string text;  // for people
  bool implausible = false;
};

// Compares the measured seconds with what the job's current Placement predicts, and sets the job's
// annotation weft.dev/measured-step-seconds. A measurement that differs by more than a factor of
// five (predict/learned.h) is not written.
// Errors  of the requests; kInvalid if `seconds` is not a number above 0.
Result<StepReport> VerifyStep(kube::Client& client, const api::ObjectKey& job, double seconds);

int RunVerifyStep(const VerifyArguments& arguments);

}  // namespace weft::cli
