#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/lose.h"

namespace weft::render {

// What becomes of each job that loses nodes: which worker goes where, and what the job costs before
// and after; or why it must be placed anew.
std::string LoseText(const report::LoseReport& report, const TextOptions& options);

}  // namespace weft::render
