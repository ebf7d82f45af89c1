#pragma once

#include <string>
#include <vector>

#include "operator/render/text_format.h"
#include "operator/report/explain.h"

namespace weft::render {

// Why each job goes where it goes: cost by axis and level, bound, runner-up; or why nowhere: the
// refusal domain by domain and what would let it start.
std::string ExplainText(const decide::PlanReport& report,
                        const std::vector<report::Explanation>& explanations,
                        const TextOptions& options);

}  // namespace weft::render
