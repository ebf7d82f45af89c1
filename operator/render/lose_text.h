#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/lose.h"

namespace weft::render {

// What each job that loses nodes needs: which worker could go where, and what the job costs before
// and after; or why it must be placed anew.
std::string LoseText(const report::LoseReport& report, const TextOptions& options);

}  // namespace weft::render
