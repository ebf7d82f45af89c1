#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/compare.h"

namespace weft::render {

// What Weft's placement saves, for people: one block for all jobs together and one for each job,
// who chooses the nodes in rows, bytes that leave nodes and each level in columns, and the ratio of
// the cost to Weft's. Ends with one line that says how the numbers came about.
std::string CompareText(const decide::Cluster& cluster, const report::CompareReport& report,
                        const TextOptions& options);

}  // namespace weft::render
