#include "operator/plan/plan_report.h"

#include <algorithm>
#include <map>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/cluster/text.h"

#include "operator/plan/solver_crash.h"

namespace weft::plan {

bool NeverFits(const placement::Unplaceable& why) {
  if (why.ever || why.reason == placement::Reason::kNoCompleteNode) return false;
  return !why.ever_when_healthy;
}

bool NeverFits(const Refused& refused) {
  // One that is refused for the crashes of an equal one is tried again.
  if (refused.reason == api::kSolverFailed) return !refused.ends_in_seconds;
  if (!refused.why) return refused.reason == "Invalid";
  return NeverFits(*refused.why);
}

void AddAheadTexts(PlanReport& report) {
  std::map<std::size_t, std::size_t> waiting;  // by fabric
  for (const std::size_t e : report.decided) {
    PlanEntry& entry = report.entries[e];
    auto* refused = std::get_if<Refused>(&entry.outcome);
    if (refused == nullptr || !refused->why || !refused->why->ever) continue;
    WEFT_CHECK(entry.fabric.has_value());  // the solver was asked about one
    const std::string ahead = cluster::AheadText(waiting[*entry.fabric]++);
    if (!ahead.empty()) refused->message += " " + ahead;
  }
}

bool PlanReport::AllPlaced() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const PlanEntry& entry) { return entry.placed() != nullptr; });
}

fabric::Claims ClaimsBefore(const cluster::Cluster& cluster, const PlanReport& report,
                            std::size_t entry) {
  WEFT_CHECK(entry < report.entries.size());
  const std::size_t on = report.entries[entry].fabric.value_or(0);
  fabric::Claims claims = cluster.fabrics[on].claims;
  std::size_t nominated = 0;
  for (const std::size_t earlier : report.decided) {
    const PlanEntry& other = report.entries[earlier];
    if (other.fabric != on) continue;
    cluster::BookNominated(cluster.fabrics[on], other.workload.pod_priority, nominated, claims);
    if (earlier == entry) break;
    if (other.placed() == nullptr) continue;
    cluster::AddClaims(other.workload, other.placed()->plan.nodes, claims);
  }
  return claims;
}

}  // namespace weft::plan
