#include "operator/report/queue.h"

#include <nlohmann/json.hpp>

#include "operator/base/phrases.h"
#include "operator/decide/outlook.h"
#include "operator/decide/queued.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kNow = "now";

// The refusal without the plan's own time, which counts nobody ahead in the queue: the forecast has
// a better one.
std::string WhyOf(const decide::Refused& refused) {
  std::string text = refused.message;
  if (!refused.why || !refused.why->ever) return text;
  const std::string time = " " + decide::OutlookText(refused.outlook, true);
  if (const auto at = text.find(time); at != text.npos) text.erase(at, time.size());
  return text;
}

QueueRow RowOf(const decide::Cluster& cluster, const decide::PlanEntry& entry) {
  const decide::Workload& workload = entry.workload;
  QueueRow row;
  row.key = workload.key();
  row.kind = workload.kind();
  if (entry.fabric) row.fabric = cluster.fabrics[*entry.fabric].name();
  row.priority = workload.priority;
  row.workers = workload.workers;
  row.accelerators = std::int64_t{workload.workers} * workload.accelerator->per_worker;
  row.waited_seconds = workload.waited_seconds;
  const decide::Refused* refused = entry.refused();
  if (refused == nullptr) return row;
  row.reason = refused->reason;
  row.why = WhyOf(*refused);
  for (const placement::Relaxation& one : refused->relaxations) {
    row.sooner.push_back(one.constraint + ": " + one.change);
  }
  return row;
}

}  // namespace

std::vector<QueueRow> MakeQueue(const decide::Cluster& cluster, const decide::PlanReport& report,
                                const std::string& space, std::int64_t reserve_after_seconds) {
  const auto starts = decide::ForecastStarts(cluster, report, reserve_after_seconds);
  std::vector<QueueRow> queue;
  std::size_t position = 0;
  for (const std::size_t e : report.decided) {
    ++position;
    const decide::PlanEntry& entry = report.entries[e];
    if (!space.empty() && entry.workload.key().space != space) continue;
    queue.push_back(RowOf(cluster, entry));
    queue.back().position = position;
    queue.back().start = starts[e];
    if (entry.refused() != nullptr && decide::NeverFits(*entry.refused())) {
      queue.back().never = true;
    }
  }
  return queue;
}

std::string StartText(const QueueRow& row) {
  if (row.never) return "never";
  const auto& within = row.start.within_seconds;
  if (!within) return "unknown";
  if (*within == 0 && row.reason.empty()) return kNow;
  const std::string text = "within " + DurationText(*within);
  return row.start.after.empty() ? text : text + ", when " + row.start.after + " ends";
}

nlohmann::ordered_json QueueJson(const std::vector<QueueRow>& queue) {
  OrderedJson rows = OrderedJson::array();
  for (const QueueRow& row : queue) {
    OrderedJson json = {{"position", row.position},
                        {"namespace", row.key.space},
                        {"name", row.key.name},
                        {"kind", row.kind}};
    if (!row.fabric.empty()) json["fabric"] = row.fabric;
    json["priority"] = row.priority;
    json["workers"] = row.workers;
    json["accelerators"] = row.accelerators;
    if (row.waited_seconds) json["waitedSeconds"] = *row.waited_seconds;
    if (row.start.within_seconds) json["startsWithinSeconds"] = *row.start.within_seconds;
    if (!row.start.after.empty()) json["startsAfter"] = row.start.after;
    json["neverFits"] = row.never;
    if (!row.reason.empty()) json["reason"] = row.reason;
    if (!row.why.empty()) json["why"] = row.why;
    json["sooner"] = row.sooner;
    rows.push_back(std::move(json));
  }
  return {{"queue", std::move(rows)}};
}

}  // namespace weft::report
