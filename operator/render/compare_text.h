#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/compare.h"

namespace weft::render {

// What Weft's placement saves, for people: one block for all jobs together and one for each job.
// Rows are the schedulers; columns are the bytes that leave nodes, those at each level, and the
// cost relative to Weft's. A last paragraph says how the numbers were computed.
std::string CompareText(const cluster::Cluster& cluster, const report::CompareReport& report,
                        const TextOptions& options);

}  // namespace weft::render
