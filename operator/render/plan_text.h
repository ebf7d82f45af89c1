#pragma once

#include <string>
#include <vector>

#include "operator/cluster/note.h"
#include "operator/plan/plan_report.h"
#include "operator/render/text_format.h"

namespace weft::render {

// A plan for people: a table of jobs, the nodes of each job folded into ranges, the refused jobs
// with reasons, and the notes. Empty without jobs.
std::string PlanText(const cluster::Cluster& cluster, const plan::PlanReport& report,
                     const TextOptions& options);

// Notes as lines "warning: text (Reason)", errors first; used by all texts.
std::string NotesText(const std::vector<cluster::Note>& notes, const TextOptions& options);

}  // namespace weft::render
