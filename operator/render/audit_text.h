#pragma once

#include <string>

#include "operator/decide/audit.h"
#include "operator/render/text_format.h"

namespace weft::render {

// What the gangs that other schedulers placed cost now against the best, worst first, and the
// fleet's total.
std::string AuditText(const decide::Cluster& cluster, const decide::AuditReport& report,
                      const TextOptions& options);

}  // namespace weft::render
