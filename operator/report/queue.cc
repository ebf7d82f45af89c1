#include "operator/report/queue.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/placement/relax.h"
#include "operator/plan/outlook.h"
#include "operator/plan/plan_report.h"
#include "operator/report/waiting_groups.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kNow = "now";

// The refusal without the plan's own time, which counts nobody ahead in the queue: the forecast has
// a better one.
std::string WhyOf(const plan::Refused& refused) {
  std::string text = refused.message;
  if (!refused.why || !refused.why->ever) return text;
  const std::string time = " " + plan::FitTimeText(refused.fit_time, true);
  if (const auto at = text.find(time); at != text.npos) text.erase(at, time.size());
  return text;
}

QueueRow RowOf(const cluster::Cluster& cluster, const plan::PlanEntry& entry) {
  const cluster::WorkloadView& workload = entry.workload;
  QueueRow row;
  row.key = workload.key();
  row.kind = workload.kind();
  if (entry.fabric) row.fabric = cluster.fabrics[*entry.fabric].name();
  row.priority = workload.priority;
  row.workers = workload.workers;
  row.accelerators = std::int64_t{workload.workers} * workload.accelerator->per_worker;
  row.waited_seconds = workload.wait.waited_seconds;
  const plan::Refused* refused = entry.refused();
  if (refused == nullptr) return row;
  row.reason = refused->reason;
  row.why = WhyOf(*refused);
  for (const placement::Relaxation& one : refused->relaxations) {
    row.sooner.push_back(one.constraint + ": " + one.change);
  }
  return row;
}

// The row of a Workload without Placements in the plan.
QueueRow RowOf(const life::WaitingWorkload& waiting) {
  QueueRow row;
  row.fabric = waiting.fabric_name;
  row.waited_seconds = waiting.waited_seconds;
  row.reason = waiting.reason;
  row.why = waiting.message;
  return row;
}

void TellWorkload(const life::WaitingWorkload& waiting, QueueRow& row) {
  row.key = waiting.workload->meta.key;
  row.kind = "Workload";
  row.priority = waiting.workload->priority;
  row.workers = waiting.workers;
  row.accelerators = waiting.accelerators;
}

// The later of two starts; unknown if one is.
plan::ExpectedStart Later(const plan::ExpectedStart& a, const plan::ExpectedStart& b) {
  if (!a.within_seconds || !b.within_seconds) return {};
  return *a.within_seconds < *b.within_seconds ? b : a;
}

bool WaitsBefore(const life::WaitingWorkload* a, const life::WaitingWorkload* b) {
  const api::ObjectMeta &first = a->workload->meta, &second = b->workload->meta;
  return std::forward_as_tuple(-a->workload->priority, first.creation_timestamp, first.key) <
         std::forward_as_tuple(-b->workload->priority, second.creation_timestamp, second.key);
}

// Collects the rows of all namespaces.
class QueueRows {
 public:
  QueueRows(const cluster::Cluster& cluster, const std::vector<life::WaitingWorkload>& waiting)
      : cluster_(cluster), waiting_(waiting) {
    for (const life::WaitingWorkload& one : waiting) {
      for (const api::Placement& asked : one.asked) {
        askers_.emplace(asked.meta.key, &one);
      }
    }
  }

  void Add(const plan::PlanEntry& entry, const plan::ExpectedStart& start) {
    const life::WaitingWorkload* asker = AskerOf(entry.workload);
    const auto [known, fresh] = rows_of_.emplace(asker, rows_.size());
    if (asker != nullptr && !fresh) {
      QueueRow& row = rows_[known->second];
      row.start = Later(row.start, start);
      return;
    }
    QueueRow row = RowOf(cluster_, entry);
    if (asker != nullptr) TellWorkload(*asker, row);
    row.start = start;
    row.never = entry.refused() != nullptr && !entry.refused()->ever;
    row.position = rows_.size() + 1;
    rows_.push_back(std::move(row));
  }

  std::vector<QueueRow> Rows() && {
    std::vector<const life::WaitingWorkload*> left;
    for (const life::WaitingWorkload& one : waiting_) {
      if (!rows_of_.contains(&one)) left.push_back(&one);
    }
    std::sort(left.begin(), left.end(), WaitsBefore);
    for (const life::WaitingWorkload* one : left) {
      rows_.push_back(RowOf(*one));
      TellWorkload(*one, rows_.back());
    }
    return std::move(rows_);
  }

 private:
  const life::WaitingWorkload* AskerOf(const cluster::WorkloadView& workload) const {
    const auto found = workload.is_job ? askers_.end() : askers_.find(workload.key());
    return found == askers_.end() ? nullptr : found->second;
  }

  const cluster::Cluster& cluster_;
  const std::vector<life::WaitingWorkload>& waiting_;
  std::map<api::ObjectKey, const life::WaitingWorkload*> askers_;  // by Placement
  std::map<const life::WaitingWorkload*, std::size_t> rows_of_;    // into rows_
  std::vector<QueueRow> rows_;
};

}  // namespace

std::vector<QueueRow> MakeQueue(const cluster::Cluster& cluster, const plan::PlanReport& report,
                                const std::vector<life::WaitingWorkload>& waiting,
                                const QueueOptions& options) {
  const auto starts = plan::ForecastStarts(cluster, report, options.reserve_after_seconds);
  QueueRows queue(cluster, waiting);
  for (const std::size_t e : report.decided) queue.Add(report.entries[e], starts[e]);
  std::vector<QueueRow> rows = std::move(queue).Rows();
  for (QueueRow& row : WaitingPodGroups(cluster)) rows.push_back(std::move(row));
  std::erase_if(rows, [&](const QueueRow& row) {
    return !options.space.empty() && row.key.space != options.space;
  });
  return rows;
}

std::string StartText(const QueueRow& row) {
  if (row.never) return "never";
  const auto& within = row.start.within_seconds;
  if (!within) return "unknown";
  if (*within == 0 && row.reason.empty()) return kNow;
  const std::string text = "within " + DurationText(*within);
  return row.start.after.empty() ? text : text + ", when " + row.start.after + " ends";
}

nlohmann::ordered_json QueueJson(const std::vector<QueueRow>& queue,
                                 const std::vector<HalfGang>& partly_started) {
  OrderedJson rows = OrderedJson::array();
  for (const QueueRow& row : queue) {
    OrderedJson json = OrderedJson::object();
    if (row.position > 0) json["position"] = row.position;
    json["namespace"] = row.key.space;
    json["name"] = row.key.name;
    json["kind"] = row.kind;
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
  return {{"queue", std::move(rows)}, {"partlyStarted", HalfGangsJson(partly_started)}};
}

}  // namespace weft::report
