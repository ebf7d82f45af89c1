#pragma once

#include <vector>

#include "operator/report/finding.h"
#include "operator/report/lint_subject.h"

namespace weft::report {

// Findings UnknownAccelerator and UnsupportedPrecision: for nodes that the job may get nothing can
// be predicted, because nobody knows their accelerator, or no such node has a unit for the model's
// precision.
std::vector<Finding> NotPredictable(const LintSubject& subject);

// Finding DoesNotFit: no accelerator that the job may get has the memory that the model needs per
// GPU. It names the parts and the smallest change that helps. Empty if one of these accelerators is
// unknown.
std::vector<Finding> DoesNotFit(const LintSubject& subject);

// Findings RefusedLayout: rules of training software that the layout breaks (outlook/refusals.h),
// and UnlikelyParameters.
std::vector<Finding> RefusedLayout(const LintSubject& subject);
// Finding about a pipeline whose stages wait over a tenth of the time; names the smallest change
// that halves the wait (outlook/bubble.h).
std::vector<Finding> PipelineBubble(const LintSubject& subject);
// Finding about a measured step (predict/learned.h) that is not a number of seconds.
std::vector<Finding> MeasuredStepInvalid(const LintSubject& subject);
// Finding about a metric of the step (predict/step_metric.h) that is not the name of one.
std::vector<Finding> StepMetricInvalid(const LintSubject& subject);

}  // namespace weft::report
