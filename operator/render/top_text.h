#pragma once

#include <string>

#include "operator/decide/overview.h"
#include "operator/render/text_format.h"

namespace weft::render {

// The fleet, then a line for each job that has not ended, and below it why one has no nodes.
// `wide`: also each level's largest block of free nodes.
std::string TopText(const decide::Overview& overview, const TextOptions& options, bool wide);

}  // namespace weft::render
