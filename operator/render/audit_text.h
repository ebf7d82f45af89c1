#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/audit.h"

namespace weft::render {

// What the gangs that other schedulers placed cost now against the best, worst first, and the
// fleet's total.
std::string AuditText(const decide::Cluster& cluster, const report::AuditReport& report,
                      const TextOptions& options);

}  // namespace weft::render
