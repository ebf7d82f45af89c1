#include "operator/render/lint_text.h"

#include "operator/cluster/note.h"
#include "operator/render/table.h"

namespace weft::render {

std::string LintText(const report::LintReport& report, const TextOptions& options) {
  if (report.findings.empty()) return "No findings.\n";
  std::string text;
  std::string place;
  for (const report::Finding& finding : report.findings) {
    if (finding.place != place) {
      place = finding.place;
      text += Paint(Printable(place), Colour::kBold, options.colour) + "\n";
    }
    const Colour colour = finding.severity == cluster::Severity::kError     ? Colour::kRed
                          : finding.severity == cluster::Severity::kWarning ? Colour::kYellow
                                                                            : Colour::kDim;
    const std::string severity(cluster::SeverityName(finding.severity));
    const std::string field = finding.field.empty() ? "" : finding.field + ": ";
    std::string line = Wrap(
        "  ", severity + ": " + Printable(field + finding.message) + " (" + finding.reason + ")", 4,
        options.columns);
    if (options.colour) line.replace(2, severity.size(), Paint(severity, colour, true));
    text += line;
  }
  return text;
}

}  // namespace weft::render
