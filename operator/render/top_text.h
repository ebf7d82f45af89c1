#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/overview.h"

namespace weft::render {

// The fleet, then a line for each unfinished job, and below the line why the job has no nodes.
// `wide`: also each level's largest block of free nodes.
std::string TopText(const report::Overview& overview, const TextOptions& options, bool wide);

}  // namespace weft::render
