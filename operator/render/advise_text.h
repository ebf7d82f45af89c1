#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/advice.h"

namespace weft::render {

// The layouts as a table, best first; what bounds the first and what would lift that; what the
// numbers rest on.
std::string AdviceText(const report::Advice& advice, const TextOptions& options);

}  // namespace weft::render
