#pragma once

#include <string>

#include "operator/decide/lint.h"
#include "operator/render/text_format.h"

namespace weft::render {

// Findings as lines a person can act on: "place: field: severity: message (Reason)".
std::string LintText(const decide::LintReport& report, const TextOptions& options);

}  // namespace weft::render
