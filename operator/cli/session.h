#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/decide/plan.h"
#include "operator/render/text_format.h"

namespace weft::cli {

// What the commands share: read, build, decide, report.
Result<decide::Cluster> ReadCluster(const std::vector<std::string>& files);
Result<decide::PlanReport> PlanCluster(const decide::Cluster& cluster, const std::string& order,
                                       bool timed);

// Prints "weft: MESSAGE" on standard error and returns the error's exit code.
int Fail(const Error& error);
// Prints the text on standard output and returns `code`, or the failure's.
int Print(const std::string& text, int code);

// Remarks that belong beside an answer and not into it: standard error, one line each.
void Remark(const std::vector<decide::Note>& notes);

render::TextOptions TextStyle();

}  // namespace weft::cli
