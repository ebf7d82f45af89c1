#pragma once

#include <vector>

#include "operator/report/lint_rules.h"

namespace weft::report {

// A model whose memory per GPU no accelerator offers that the job may get: DoesNotFit, with the
// parts and the smallest change that would do. Says nothing where one of them is unknown.
std::vector<Finding> DoesNotFit(const LintSubject& subject);

// A pipeline whose stages wait more than a tenth of the time, with the setting that halves it.
std::vector<Finding> PipelineBubble(const LintSubject& subject);

}  // namespace weft::report
