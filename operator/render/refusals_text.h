#pragma once

#include <string>
#include <vector>

#include "operator/cluster/note.h"
#include "operator/plan/plan_report.h"
#include "operator/render/text_format.h"

namespace weft::render {

// The refused jobs of a plan with reasons. Jobs that are refused for one reason on one fabric, lack
// the same resource and could start by the same changes stand together, with the message of the
// first of them, if there are more than three or their messages are equal. "" without refusals.
std::string RefusalsText(const plan::PlanReport& report, const TextOptions& options);

// The notes of all jobs. A note that several jobs have stands once, with their names.
std::vector<cluster::Note> JobNotes(const plan::PlanReport& report);

}  // namespace weft::render
