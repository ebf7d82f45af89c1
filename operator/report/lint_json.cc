#include <nlohmann/json.hpp>

#include "operator/cluster/note.h"
#include "operator/report/lint.h"

namespace weft::report {

nlohmann::ordered_json LintJson(const LintReport& report) {
  auto findings = nlohmann::ordered_json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"severity", cluster::SeverityName(finding.severity)},
                        {"place", finding.place},
                        {"field", finding.field},
                        {"reason", finding.reason},
                        {"message", finding.message}});
  }
  return {{"findings", std::move(findings)}, {"neverFits", report.never_fits}};
}

}  // namespace weft::report
