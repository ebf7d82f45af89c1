#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/audit.h"

namespace weft::render {

// For each gang that other schedulers placed, its present cost compared with the best, worst first;
// then the fleet's total.
std::string AuditText(const cluster::Cluster& cluster, const report::AuditReport& report,
                      const TextOptions& options);

}  // namespace weft::render
