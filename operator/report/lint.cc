#include "operator/report/lint.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/text.h"
#include "operator/placement/relax.h"
#include "operator/plan/plan_report.h"
#include "operator/plan/refusal.h"
#include "operator/plan/solver_crash.h"
#include "operator/predict/learned.h"
#include "operator/report/lint_rules.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::Severity;
using cluster::WorkloadView;

// Splits a message "<place>: spec.a.b: what is wrong" into its parts.
Finding FromError(const Error& error, const std::string& place) {
  Finding finding{Severity::kError, place, "", "Invalid", error.message};
  const std::string prefix = place + ": ";
  if (!place.empty() && finding.message.starts_with(prefix))
    finding.message.erase(0, prefix.size());
  const std::size_t colon = finding.message.find(": ");
  const std::string path = finding.message.substr(0, std::min(colon, finding.message.size()));
  if (colon != std::string::npos && path.find(' ') == std::string::npos) {
    finding.field = path;
    finding.message.erase(0, colon + 2);
  }
  return finding;
}

class Linter {
 public:
  Linter(const Cluster& cluster, const std::string& space) : cluster_(cluster), space_(space) {}

  LintReport Run() {
    Result<std::vector<WorkloadView>> workloads = cluster::AllWorkloads(cluster_);
    if (!workloads) {
      Invalid(workloads.error(), "");
      return std::move(report_);
    }
    if (const auto pending = cluster::PendingWorkloads(cluster_, cluster::Order::kFile); !pending) {
      Invalid(pending.error(), "");
    }
    for (cluster::Note& note : predict::LearnedScalars::From(*cluster_.inputs).Notes()) {
      report_.findings.push_back(
          {note.severity, "", "", std::move(note.reason), std::move(note.text)});
    }
    for (WorkloadView& workload : *workloads) {
      if (!space_.empty() && workload.key().space != space_) continue;
      const std::size_t begin = report_.findings.size();
      workload.wait.waited_seconds.reset();  // so no wait for a preferred level counts
      Check(workload);
      std::stable_sort(report_.findings.begin() + static_cast<std::ptrdiff_t>(begin),
                       report_.findings.end(),
                       [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    }
    return std::move(report_);
  }

 private:
  void Invalid(const Error& error, const std::string& place) {
    report_.invalid = true;
    report_.findings.push_back(FromError(error, place));
  }

  void Check(const WorkloadView& workload) {
    // The solver of this program may crash on it too.
    if (auto failed = plan::RefusalFor(cluster_, workload, {})) {
      report_.findings.push_back({Severity::kError, *workload.place, "status.conditions",
                                  failed->reason, std::move(failed->message)});
      return;
    }
    const auto choice = cluster::ChooseFabric(cluster_, workload);
    if (!choice) return Invalid(choice.error(), *workload.place);
    if (const auto* none = std::get_if<Refusal>(&*choice)) {
      if (none->reason == "NoFabric") report_.never_fits = true;
      report_.findings.push_back(
          {Severity::kError, *workload.place, "spec.fabricName", none->reason, none->message});
      return;
    }
    const cluster::ClusterFabric& on = cluster_.fabrics[std::get<std::size_t>(*choice)];
    const Result<cluster::Problem> problem = cluster::MakeProblem(on, workload);
    if (!problem) return Invalid(problem.error(), *workload.place);
    CheckFits(on, workload, *problem);
    for (const LintRule& rule : LintRules()) {
      for (Finding& finding : rule.find({cluster_, on, workload, *problem})) {
        finding.place = *workload.place;
        report_.never_fits = report_.never_fits || rule.never_fits;
        report_.findings.push_back(std::move(finding));
      }
    }
  }

  // Checks if the workload fits on the empty fabric.
  void CheckFits(const cluster::ClusterFabric& on, const WorkloadView& workload,
                 const cluster::Problem& problem) {
    objective::Options alone;
    alone.ignore_claims = true;
    const traffic::WorkerGraph graph(problem.traffic);
    const auto placement = placement::Place(on.claims, problem.request, graph, alone);
    const auto* no = std::get_if<placement::Unplaceable>(&placement);
    if (no == nullptr) return;
    if (plan::AdmissionMayTolerate(workload, *no)) {
      report_.findings.push_back({Severity::kWarning, *workload.place, FieldOf(*no),
                                  "TaintNotTolerated", plan::RefusalText(on, workload, *no, {})});
      return;
    }
    const auto relaxations = placement::FindRelaxations(on.claims, problem.request, graph, alone);
    AddNoRoom(workload, *no, plan::RefusalText(on, workload, *no, relaxations));
  }

  void AddNoRoom(const WorkloadView& workload, const placement::Unplaceable& no,
                 const std::string& text) {
    const std::string& place = *workload.place;
    if (no.reason != placement::Reason::kSearchExhausted && !plan::NeverFits(no)) {
      report_.findings.push_back({Severity::kWarning, place, FieldOf(no), "NodesUnavailable",
                                  "It cannot fit before more nodes are usable. " + text});
      return;
    }
    const bool proven = no.reason != placement::Reason::kSearchExhausted;
    report_.never_fits = report_.never_fits || proven;
    report_.findings.push_back(
        {Severity::kError, place, FieldOf(no), proven ? "NeverFits" : "NotFound",
         (proven ? "It never fits this fabric, not even with nothing else running. " : "") + text});
  }

  static std::string FieldOf(const placement::Unplaceable& no) {
    switch (no.reason) {
      case placement::Reason::kNoMatchingProduct:
        return "spec.accelerator";
      case placement::Reason::kRequiredLevel:
        return "spec.topology.required";
      case placement::Reason::kRequiredGroup:
        return no.group ? "spec.topology.groups[" + std::to_string(*no.group) + "].required"
                        : "spec.topology.groups";
      default:
        return "spec.workers";
    }
  }

  const Cluster& cluster_;
  const std::string& space_;
  LintReport report_;
};

}  // namespace

LintReport Lint(const Cluster& cluster, const std::string& space) {
  return Linter(cluster, space).Run();
}

}  // namespace weft::report
