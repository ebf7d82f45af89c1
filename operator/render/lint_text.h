#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/lint.h"

namespace weft::render {

// Findings as lines a person can act on: "place: field: severity: message (Reason)".
std::string LintText(const report::LintReport& report, const TextOptions& options);

}  // namespace weft::render
