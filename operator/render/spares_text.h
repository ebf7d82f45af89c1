#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/spare_advice.h"

namespace weft::render {

// For each Fabric and accelerator a table of its levels and where to keep how many spares; then the
// jobs with their checkpoint intervals, and what the numbers rest on.
std::string SparesText(const report::SpareAdvice& advice, const TextOptions& options);

}  // namespace weft::render
