#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/outlook.h"

namespace weft::render {

// "Hopper BF16, FSDP, calibrated as H100 (+-25 %): every other row of ...".
std::string CalibrationText(const outlook::Prediction& prediction, bool with_error);

// The prediction for each job: one line per job; then which jobs do not fit, with changes that
// would help; then what the predictions are based on.
std::string OutlookText(const report::OutlookReport& report, const TextOptions& options);

}  // namespace weft::render
