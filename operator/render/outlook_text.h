#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/outlook.h"

namespace weft::render {

// What is predicted of each job: one line a job, then what does not fit and what would, and what
// the predictions rest on.
std::string OutlookText(const report::OutlookReport& report, const TextOptions& options);

}  // namespace weft::render
