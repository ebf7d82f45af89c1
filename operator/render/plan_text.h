#pragma once

#include <string>
#include <vector>

#include "operator/decide/plan.h"
#include "operator/render/text_format.h"

namespace weft::render {

// A plan for people: a table of jobs, the nodes of each folded into ranges, what was refused and
// why, and the notes. Nothing where there is no job.
std::string PlanText(const decide::Cluster& cluster, const decide::PlanReport& report,
                     const TextOptions& options);

// Notes in lines "warning: text (Reason)", errors first. Shared by all texts.
std::string NotesText(const std::vector<decide::Note>& notes, const TextOptions& options);

}  // namespace weft::render
