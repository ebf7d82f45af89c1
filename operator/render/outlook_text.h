#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/outlook.h"

namespace weft::render {

// The prediction for each job: one line per job; then which jobs do not fit, with changes that
// would help; then what the predictions are based on.
std::string OutlookText(const report::OutlookReport& report, const TextOptions& options);

}  // namespace weft::render
