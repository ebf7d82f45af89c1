#include "operator/report/overview.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "operator/api/kueue.h"
#include "operator/life/job_status.h"
#include "operator/life/waiting.h"

namespace weft::report {
namespace {

constexpr std::uint32_t kNoDomains = 0;  // none is listed

std::optional<std::int64_t> AgeOf(const api::ObjectMeta& meta, UnixSeconds now) {
  const auto made = ParseTime(meta.creation_timestamp);
  if (!made) return std::nullopt;
  return std::max<std::int64_t>(0, now - *made);
}

// Says why the job has no nodes, if it has none.
void TellWhy(const std::vector<api::Condition>& conditions, Overview::JobRow& row) {
  if (!row.spans.empty()) return;
  for (const char* type : {"Accepted", "Placed"}) {
    for (const api::Condition& condition : conditions) {
      const bool untold = condition.status == "Unknown" && condition.reason == life::kNotWritten;
      if (condition.type != type || (condition.status != "False" && !untold)) continue;
      row.reason = condition.reason;
      row.why = condition.message;
      return;
    }
  }
}

Overview::JobRow RowOf(const api::TrainingJob& job, UnixSeconds now) {
  Overview::JobRow row;
  row.key = job.meta.key;
  row.kind = "TrainingJob";
  row.phase = life::PhaseOf(life::StatusOf(job));
  row.workers = job.replicas;
  row.ready = job.record.workers.ready;
  row.accelerators = std::int64_t{job.replicas} * job.accelerator.per_worker;
  row.spans = job.record.summary.spans;
  row.cross_node = job.record.summary.cross_node;
  row.of_best = job.record.summary.of_best;
  row.attempt = job.attempt;
  row.restarts = job.record.restarts;
  row.age_seconds = AgeOf(job.meta, now);
  TellWhy(job.conditions, row);
  return row;
}

Overview::JobRow RowOf(const api::Placement& placement, UnixSeconds now) {
  Overview::JobRow row;
  row.key = placement.meta.key;
  row.kind = "Placement";
  row.phase = placement.nodes.empty() ? "Pending" : "Placed";
  row.workers = placement.workers;
  row.ready = static_cast<std::int64_t>(placement.nodes.size());
  row.accelerators = std::int64_t{placement.workers} * placement.accelerator.per_worker;
  api::Summary summary;
  if (!placement.nodes.empty()) life::Summarise(placement, summary);
  row.spans = summary.spans;
  row.cross_node = summary.cross_node;
  row.of_best = summary.of_best;
  row.age_seconds = AgeOf(placement.meta, now);
  TellWhy(placement.conditions, row);
  return row;
}

Overview::JobRow RowOf(const life::WaitingWorkload& waiting, UnixSeconds now) {
  Overview::JobRow row;
  row.key = waiting.workload->meta.key;
  row.kind = "Workload";
  row.phase = "Pending";
  row.workers = waiting.workers;
  row.accelerators = waiting.accelerators;
  row.age_seconds = AgeOf(waiting.workload->meta, now);
  row.reason = waiting.reason;
  row.why = waiting.message;
  return row;
}

// The Workloads that wait, without those that are shown as their Placements.
std::vector<life::WaitingWorkload> WithoutPlacement(const cluster::Cluster& cluster) {
  std::vector<const fabric::FabricSpec*> specs;
  for (const cluster::ClusterFabric& on : cluster.fabrics) specs.push_back(&on.fabric->spec());
  std::set<std::string> shown;  // uids
  for (const api::Placement& placement : cluster.inputs->placements) {
    if (const auto* owner = api::ControllingWorkload(placement.meta)) shown.insert(owner->uid);
  }
  auto waiting = life::WaitingWorkloads(*cluster.inputs, specs);
  std::erase_if(waiting, [&](const auto& one) { return shown.contains(one.workload->meta.uid); });
  return waiting;
}

// Whether a job owns the Placement; it is then shown as the job.
bool IsOfAJob(const api::Placement& placement) {
  return std::any_of(placement.meta.owners.begin(), placement.meta.owners.end(),
                     [](const auto& owner) { return owner.kind == "TrainingJob"; });
}

std::int64_t HeldByOthers(const cluster::ClusterFabric& on) {
  std::int64_t held = 0;
  for (const cluster::Holder& holder : on.holders) {
    if (holder.kind == "TrainingJob" || holder.kind == "Placement") continue;
    for (const cluster::Holding& holding : holder.holdings) {
      for (const auto& [resource, amount] : *holding.amounts) {
        const auto known = on.fabric->FindResource(resource);
        if (known && on.fabric->IsAccelerator(*known)) held += amount;
      }
    }
  }
  return held;
}

}  // namespace

Overview MakeOverview(const cluster::Cluster& cluster, const std::string& space, UnixSeconds now) {
  Overview overview;
  for (const cluster::ClusterFabric& on : cluster.fabrics) {
    overview.fabrics.push_back({on.name(),
                                static_cast<std::int64_t>(on.fabric->incomplete().size()),
                                MeasureFleet(on, kNoDomains)});
    overview.other_accelerators += HeldByOthers(on);
  }
  overview.partly_started = HalfGangs(*cluster.inputs, space);
  const auto follows = [&](const api::ObjectKey& key) {
    return space.empty() || key.space == space;
  };
  for (const api::TrainingJob& job : cluster.inputs->jobs) {
    if (!follows(job.meta.key)) continue;
    Overview::JobRow row = RowOf(job, now);
    if (row.phase == "Complete") {
      ++overview.complete;
    } else if (row.phase == "Failed") {
      ++overview.failed;
    } else {
      overview.jobs.push_back(std::move(row));
    }
  }
  for (const api::Placement& placement : cluster.inputs->placements) {
    if (follows(placement.meta.key) && !IsOfAJob(placement)) {
      overview.jobs.push_back(RowOf(placement, now));
    }
  }
  for (const life::WaitingWorkload& waiting : WithoutPlacement(cluster)) {
    if (follows(waiting.workload->meta.key)) overview.jobs.push_back(RowOf(waiting, now));
  }
  std::sort(overview.jobs.begin(), overview.jobs.end(), [](const auto& a, const auto& b) {
    return std::forward_as_tuple(a.spans.empty(), a.key, a.kind) <
           std::forward_as_tuple(b.spans.empty(), b.key, b.kind);
  });
  return overview;
}

}  // namespace weft::report
