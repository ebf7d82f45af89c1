#pragma once

#include <string>
#include <vector>

#include "operator/render/text_format.h"
#include "operator/report/queue.h"

namespace weft::render {

// The queue for people: a table in its order, then why the first jobs wait and what would start
// them now; if `wide`, of all jobs.
std::string QueueText(const std::vector<report::QueueRow>& queue, const TextOptions& options,
                      bool wide);

}  // namespace weft::render
