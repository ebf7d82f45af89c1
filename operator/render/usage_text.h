#pragma once

#include <string>

#include "operator/render/text_format.h"
#include "operator/report/usage_report.h"

namespace weft::render {

// What namespaces and queues used, for people: the fleet in one sentence, then a table.
std::string UsageText(const report::UsageReport& report, const TextOptions& options);

}  // namespace weft::render
