#pragma once

#include <string>
#include <vector>

#include "operator/render/text_format.h"
#include "operator/report/explain.h"

namespace weft::render {

// Why each job gets its nodes: cost by axis and level, bound, runner-up. For a refused job: the
// reason in each domain, and what would let the job start.
std::string ExplainText(const plan::PlanReport& report,
                        const std::vector<report::Explanation>& explanations,
                        const TextOptions& options);

}  // namespace weft::render
