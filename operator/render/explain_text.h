#pragma once

#include <string>
#include <vector>

#include "operator/decide/explain.h"
#include "operator/render/text_format.h"

namespace weft::render {

// Why each job goes where it goes: cost by axis and level, bound, runner-up; or why nowhere: the
// refusal domain by domain and what would let it start.
std::string ExplainText(const decide::PlanReport& report,
                        const std::vector<decide::Explanation>& explanations,
                        const TextOptions& options);

}  // namespace weft::render
