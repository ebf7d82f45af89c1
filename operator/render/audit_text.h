#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/audit.h"

namespace weft::render {

// The present cost of gangs that other schedulers placed, compared with the best, worst first, and
// the fleet's total.
std::string AuditText(const decide::Cluster& cluster, const report::AuditReport& report,
                      const TextOptions& options);

}  // namespace weft::render
