#pragma once

#include <vector>

#include "operator/report/lint_rules.h"

namespace weft::report {

// Finding DoesNotFit: no accelerator that the job may get has the memory that the model needs per
// GPU. It names the parts and the smallest change that helps. Empty if one of these accelerators is
// unknown.
std::vector<Finding> DoesNotFit(const LintSubject& subject);

// Finding about a pipeline whose stages wait over a tenth of the time; names a setting that halves
// the wait.
std::vector<Finding> PipelineBubble(const LintSubject& subject);
// Finding about a measured step (decide/learned.h) that is not a number of seconds.
std::vector<Finding> MeasuredStepInvalid(const LintSubject& subject);

}  // namespace weft::report
