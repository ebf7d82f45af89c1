#include <iostream>
#include <nlohmann/json.hpp>

#include "operator/api/json_text.h"
#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/cluster/note.h"
#include "operator/manifest/writer.h"
#include "operator/plan/snapshot.h"
#include "operator/plan/status.h"
#include "operator/program/price_file.h"
#include "operator/render/audit_text.h"
#include "operator/render/compare_text.h"
#include "operator/render/explain_text.h"
#include "operator/render/lint_text.h"
#include "operator/render/lose_text.h"
#include "operator/render/outlook_text.h"
#include "operator/render/plan_text.h"
#include "operator/report/audit.h"
#include "operator/report/compare.h"
#include "operator/report/explain.h"
#include "operator/report/explain_held.h"
#include "operator/report/lint.h"
#include "operator/report/lose.h"
#include "operator/report/outlook.h"

namespace weft::cli {

namespace {

// Prints one JSON object per decided job, in the order of decisions.
void PrintTimings(const cluster::Cluster& cluster, const plan::PlanReport& report) {
  for (std::size_t index : report.decided) {
    const plan::PlanEntry& entry = report.entries[index];
    nlohmann::ordered_json line;
    line["job"] = api::Show(entry.workload.key());
    line["nodes"] = entry.fabric ? cluster.fabrics[*entry.fabric].fabric->node_count() : 0;
    line["workers"] = entry.workload.workers;
    line["solveMicroseconds"] = entry.solve_microseconds;
    line["placed"] = entry.placed() != nullptr;
    std::cerr << api::JsonText(line) << "\n";
  }
}

// What the loss of nodes would do to running jobs; without names, to those of the namespace.
int ExplainLoss(const ExplainArguments& arguments, const cluster::Cluster& cluster,
                const std::vector<std::string>& names) {
  const auto mark = arguments.input.live() ? cluster::Mark::kInvalid : cluster::Mark::kNo;
  auto report = report::Lose(cluster, arguments.lose, names, mark);
  if (!report) return Fail(report.error(), arguments.input);
  report->KeepSpace(arguments.input.space);
  const int code = report->AllGoOn() ? kDone : kNotPlaced;
  if (arguments.output != "table") {
    return Print(Encode(report::LoseJson(*report), arguments.output), code);
  }
  return Print(render::LoseText(*report, TextStyle()), code);
}

}  // namespace

int RunPlan(const PlanArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  auto report = PlanCluster(*cluster, {.order = OrderOf(arguments.input, arguments.order),
                                       .timed = arguments.timings,
                                       .effort = arguments.effort});
  if (!report) return Fail(report.error(), arguments.input);
  KeepSpace(arguments.input.space, *report);
  if (arguments.timings) PrintTimings(*cluster, *report);
  const int code = report->AllPlaced() ? kDone : kNotPlaced;
  if (arguments.output != "table") {
    Remark(report->notes);
    return Print(Encode(plan::PlacementList(*cluster, *report), arguments.output), code);
  }
  std::string text = render::PlanText(*cluster, *report, TextStyle());
  if (arguments.compare) {
    text += "\n" + render::CompareText(*cluster, report::Compare(*cluster, *report), TextStyle());
  }
  return Print(text, code);
}

int RunExplain(const ExplainArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  std::vector<std::string> names = arguments.names;
  for (std::string& name : names) {
    const bool bare = name.find('/') == std::string::npos;
    if (bare && !arguments.input.space.empty()) name = arguments.input.space + "/" + name;
  }
  if (!arguments.lose.empty()) return ExplainLoss(arguments, *cluster, names);
  auto report = PlanCluster(*cluster, {.order = OrderOf(arguments.input, "")});
  if (!report) return Fail(report.error(), arguments.input);
  if (names.empty()) KeepSpace(arguments.input.space, *report);
  const auto explanations = report::ExplainNamed(*cluster, names, *report);
  if (!explanations) return Fail(explanations.error(), arguments.input);
  int code = kDone;
  for (const report::Explanation& one : *explanations) {
    if (report->entries[one.entry].placed() == nullptr) code = kNotPlaced;
  }
  if (arguments.output != "table") {
    return Print(Encode(report::ExplainJson(*cluster, *report, *explanations), arguments.output),
                 code);
  }
  return Print(render::ExplainText(*report, *explanations, TextStyle()), code);
}

int RunAudit(const AuditArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  const auto report = report::Audit(*cluster, {.space = arguments.input.space});
  if (!report) return Fail(report.error(), arguments.input);
  if (arguments.output == "table") {
    return Print(render::AuditText(*cluster, *report, TextStyle()), kDone);
  }
  Remark(report->notes);
  return Print(Encode(report::AuditJson(*cluster, *report), arguments.output), kDone);
}

int RunOutlook(const OutlookArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  std::optional<outlook::Prices> prices;
  if (const Status read = program::ReadPricesFor(*cluster, arguments.prices, prices); !read) {
    return Fail(read.error());
  }
  const auto plan = PlanCluster(*cluster, {.order = OrderOf(arguments.input, "")});
  if (!plan) return Fail(plan.error(), arguments.input);
  auto report =
      report::Outlook(*cluster, *plan, {arguments.input.space, prices ? &*prices : nullptr});
  if (!report) return Fail(report.error(), arguments.input);
  for (const report::JobOutlook& job : report->jobs) {
    if (job.prediction) continue;
    // An error in one job of a live cluster does not stop the report on the others.
    if (!arguments.input.live()) return Fail(job.prediction.error(), arguments.input);
    report->notes.push_back(
        {cluster::Severity::kWarning, "NotPredicted", job.prediction.error().message + "."});
  }
  const int code = report->all_placed ? kDone : kNotPlaced;
  if (arguments.output == "table") return Print(render::OutlookText(*report, TextStyle()), code);
  Remark(report->notes);
  return Print(Encode(report::OutlookJson(*report), arguments.output), code);
}

int RunLint(const LintArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  const report::LintReport report = report::Lint(*cluster, arguments.input.space);
  const int code = report.invalid ? kBadInput : report.never_fits ? kNotPlaced : kDone;
  if (arguments.output != "table") {
    return Print(Encode(report::LintJson(report), arguments.output), code);
  }
  return Print(render::LintText(report, TextStyle()), code);
}

int RunSnapshot(const SnapshotArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  // An invalid job in a cluster is marked; an invalid job in a file is an error.
  const auto mark = arguments.input.live() ? cluster::Mark::kInvalid : cluster::Mark::kNo;
  const auto order = OrderOf(arguments.input, arguments.order);
  const auto snapshot = plan::Snapshot(*cluster, order, mark);
  if (!snapshot) return Fail(snapshot.error(), arguments.input);
  for (const std::string& why : snapshot->left_out) std::cerr << "weft: left out: " << why << "\n";
  std::string text;
  for (const auto& object : snapshot->objects) text += "---\n" + manifest::ToYaml(object);
  return Print(text, kDone);
}

}  // namespace weft::cli
