#include "operator/controllers/figures.h"

#include <map>
#include <string>

#include "operator/api/conditions.h"
#include "operator/api/names.h"
#include "operator/cluster/placement_pods.h"
#include "operator/launch/objects.h"
#include "operator/life/ledger.h"
#include "operator/plan/solver_crash.h"
#include "operator/report/job_figures.h"
#include "operator/report/usage.h"

namespace weft::controllers {
namespace {

using metrics::Id;
using metrics::Labels;
using metrics::Samples;

template <typename Number>
double Value(Number number) {
  return static_cast<double>(number);
}

void AddLevel(const std::string& fabric, const report::FleetFigures::Level& level,
              Samples& samples) {
  samples.Add(Id::kFabricDomains, {fabric, level.name}, Value(level.domains));
  samples.Add(Id::kFabricLargestFreeBlock, {fabric, level.name}, Value(level.largest_free_block));
  for (const auto& slots : level.slots) {
    const Labels labels{fabric, level.name, slots.product, std::to_string(slots.nodes)};
    samples.Add(Id::kFabricFreeSlots, labels, Value(slots.free));
    samples.Add(Id::kFabricStranded, labels, Value(slots.stranded));
  }
  for (const auto& domain : level.each) {
    const Labels labels{fabric, level.name, domain.name};
    samples.Add(Id::kDomainNodes, labels, Value(domain.nodes));
    samples.Add(Id::kDomainFreeNodes, labels, Value(domain.free_nodes));
  }
}

void AddUsage(const cluster::ClusterFabric& on, Samples& samples) {
  for (const auto& [key, usage] : report::MeasureUsage(on)) {
    Labels labels{on.name(),    key.space,   key.queue,
                  key.resource, key.product, std::string(fabric::CapacityTypeName(key.capacity)),
                  "allocated"};
    samples.Add(Id::kUsageAccelerators, labels, usage.allocated);
    labels.back() = "stranded";
    samples.Add(Id::kUsageAccelerators, std::move(labels), usage.stranded);
  }
}

void AddFabric(const cluster::ClusterFabric& on, std::uint32_t most_domains, Samples& samples) {
  const report::FleetFigures fleet = report::MeasureFleet(on, most_domains);
  for (std::size_t use = 0; use < report::kNodeUses; ++use) {
    const std::string state(report::NodeUseName(static_cast<report::NodeUse>(use)));
    samples.Add(Id::kFabricNodes, {on.name(), state}, Value(fleet.nodes[use]));
  }
  samples.Add(Id::kFabricNodes, {on.name(), "incomplete"}, Value(on.fabric->incomplete().size()));
  for (const auto& [of, accelerators] : fleet.accelerators) {
    const auto& [resource, product] = of;
    const Labels labels{on.name(), resource, product};
    const auto add = [&](const char* state, std::int64_t count) {
      Labels with = labels;
      with.emplace_back(state);
      samples.Add(Id::kFabricAccelerators, std::move(with), Value(count));
    };
    add("used", accelerators.used);
    add("free", accelerators.free);
    add("unavailable", accelerators.unavailable);
  }
  samples.Add(Id::kFabricValid, {on.name()}, 1);
  for (const auto& level : fleet.levels) AddLevel(on.name(), level, samples);
  AddUsage(on, samples);
}

// Adds a sample of the job: `value` times `unit`, if there is a value.
auto Adder(const Labels& job, Samples& samples) {
  return [&](Id id, const std::optional<std::int64_t>& value, double unit) {
    if (value) samples.Add(id, job, Value(*value) * unit);
  };
}

void AddTraffic(const Labels& job, const api::Placement& placement, Samples& samples) {
  const auto with = [&job](std::initializer_list<std::string> more) {
    Labels labels = job;
    labels.insert(labels.end(), more);
    return labels;
  };
  const report::TrafficFigures traffic = report::ReadTraffic(placement);
  for (const auto& span : traffic.spans) {
    samples.Add(Id::kJobDomains, with({span.level}), Value(span.domains));
  }
  for (const auto& flow : traffic.flows) {
    samples.Add(Id::kJobStepBytes, with({flow.axis, flow.level}), Value(flow.bytes));
  }
  const auto add = Adder(job, samples);
  add(Id::kJobCrossNodeBytes, traffic.cross_node_bytes, 1);
  add(Id::kJobBestCrossNodeBytes, traffic.best_cross_node_bytes, 1);
  add(Id::kJobCostOverBound, traffic.cost_over_bound_percent, 0.01);
  add(Id::kJobCommunicationSeconds, traffic.communication_milliseconds, 0.001);
}

void AddOutlook(const Labels& job, const api::Placement& placement, Samples& samples) {
  const report::OutlookFigures outlook = report::ReadOutlook(placement);
  const auto add = Adder(job, samples);
  add(Id::kJobStepSeconds, outlook.step_milliseconds, 0.001);
  add(Id::kJobTokensPerSecond, outlook.tokens_per_second, 1);
  add(Id::kJobMfu, outlook.mfu_percent, 0.01);
  add(Id::kJobWatts, outlook.watts, 1);
  add(Id::kJobAcceleratorWatts, outlook.accelerator_watts, 1);
  add(Id::kJobMemoryBytes, outlook.memory_bytes, 1);
  if (outlook.cost_per_hour) {
    samples.Add(Id::kJobCostPerHour, {job[0], job[1], outlook.currency}, *outlook.cost_per_hour);
  }
  if (outlook.memory_capacity && *outlook.memory_capacity > 0) {
    add(Id::kJobMemoryRatio, outlook.memory_bytes, 1 / Value(*outlook.memory_capacity));
  }
}

void AddWorkers(const Labels& job, const api::TrainingJob& of, const api::Placement& placement,
                Samples& samples) {
  for (std::uint32_t w = 0; w < placement.nodes.size(); ++w) {
    Labels labels = job;
    labels.insert(labels.end(), {std::to_string(w), launch::PodName(of, of.attempt, WorkerIndex(w)),
                                 placement.nodes[w]});
    samples.Add(Id::kJobWorkerInfo, std::move(labels), 1);
  }
}

void AddWaiting(const Labels& job, const api::TrainingJob& of, UnixSeconds now, Samples& samples) {
  const life::JobStatus status = life::StatusOf(of);
  const auto refused = life::FindCondition(status, "Placed");
  const auto accepted = life::FindCondition(status, "Accepted");
  const std::string reason = refused != nullptr                                   ? refused->reason
                             : accepted != nullptr && accepted->status == "False" ? accepted->reason
                                                                                  : "Unknown";
  samples.Add(Id::kJobWaiting, {job[0], job[1], reason}, Value(report::WaitsSince(of, now)));
  samples.Add(Id::kJobWantedAccelerators, {job[0], job[1], of.accelerator.resource_name},
              Value(of.replicas) * of.accelerator.per_worker);
}

void AddRecovery(const Labels& job, const api::Recovery& recovery, Samples& samples) {
  const std::string phase(api::NameOf(api::kRecoveryPhaseNames, recovery.phase));
  samples.Add(Id::kJobRecovery, {job[0], job[1], recovery.cause, phase}, Value(recovery.since));
}

// Of a job that has ended only the totals.
void AddLosses(const Labels& job, const api::TrainingJob& of, Samples& samples) {
  if (!of.checkpoint) return;
  const api::LostTime lost = of.record.lost.value_or(api::LostTime());
  samples.Add(Id::kJobFailures, job, Value(lost.failures));
  samples.Add(Id::kJobKeptSeconds, job, Value(lost.kept));
  const auto part = [&](const char* name, std::int64_t seconds, bool exact) {
    samples.Add(Id::kJobLostSeconds, {job[0], job[1], name, exact ? "true" : "false"},
                Value(seconds));
  };
  part("LostWork", lost.work, lost.exact);
  part("Detect", lost.detect, true);
  part("Replace", lost.replace, true);
  part("Start", lost.start, true);
  part("Load", lost.load, true);
  if (lost.wall() > 0) {
    samples.Add(Id::kJobEffectiveTime, job, Value(lost.kept) / Value(lost.wall()));
  }
  if (cluster::IsFinished(of)) return;
  if (of.record.recovery) AddRecovery(job, *of.record.recovery, samples);
  const life::Ledger ledger(lost, of.record.recovery);
  if (const auto since = ledger.unsaved_since()) {
    samples.Add(Id::kJobUnsavedSince, job, Value(*since));
  }
  if (of.checkpoint->interval_seconds) {
    samples.Add(Id::kJobCheckpointInterval, job, Value(*of.checkpoint->interval_seconds));
  }
  if (!of.record.checkpoint) return;
  const api::CheckpointRecord& checkpoint = *of.record.checkpoint;
  if (checkpoint.last_time) {
    samples.Add(Id::kJobLastCheckpoint, job, Value(*checkpoint.last_time));
  }
  if (checkpoint.advised_interval_seconds) {
    samples.Add(Id::kJobAdvisedInterval, job, Value(*checkpoint.advised_interval_seconds));
  }
}

void AddJob(const api::TrainingJob& job, const api::Placement* placement, UnixSeconds now,
            Samples& samples) {
  const Labels labels{job.meta.key.name, job.meta.key.space};
  const std::string phase = life::PhaseOf(life::StatusOf(job));
  samples.Add(
      Id::kJobInfo,
      {labels[0], labels[1], placement != nullptr ? placement->fabric_name : job.fabric_name, phase,
       report::SizeClass(job.replicas)},
      1);
  const api::WorkerCounts& workers = job.record.workers;
  const auto add = [&](const char* state, std::int64_t count) {
    samples.Add(Id::kJobWorkers, {labels[0], labels[1], state}, Value(count));
  };
  add("desired", job.replicas);
  add("ready", workers.ready);
  add("succeeded", workers.succeeded);
  add("failed", workers.failed);
  samples.Add(Id::kJobRestarts, labels, Value(job.record.restarts));
  AddLosses(labels, job, samples);
  if (report::WantsNodes(job)) AddWaiting(labels, job, now, samples);
  if (placement == nullptr || cluster::IsFinished(job)) return;
  AddTraffic(labels, *placement, samples);
  AddOutlook(labels, *placement, samples);
  AddWorkers(labels, job, *placement, samples);
}

// A gauge of what stands in the status, not a counter: the process that crashed cannot count on.
template <typename Object>
void AddCrashes(const char* kind, const SharedList<Object>& objects, Samples& samples) {
  std::int64_t retried = 0, refused = 0;
  for (const Object& object : objects) {
    const api::Condition* record = api::FindCondition(object.conditions, api::kSolverFailed);
    if (record == nullptr || record->observed_generation != object.meta.generation) continue;
    ++(record->status == "True" ? refused : retried);
  }
  samples.Add(Id::kSolverCrashes, {kind, "retried"}, Value(retried));
  samples.Add(Id::kSolverCrashes, {kind, "refused"}, Value(refused));
}

}  // namespace

void AddFabrics(const cluster::Cluster& cluster, const cluster::Fabrics& fabrics,
                std::uint32_t most_domains, Samples& samples) {
  for (const cluster::ClusterFabric& on : cluster.fabrics) AddFabric(on, most_domains, samples);
  for (const report::PodQueue& one : report::QueuesOfPods(cluster)) {
    samples.Add(Id::kPodQueue, {one.pod.space, one.pod.name, one.queue}, 1);
  }
  for (const auto& one : fabrics.not_built) samples.Add(Id::kFabricValid, {one.name}, 0);
  if (!cluster.overlapping.empty()) {
    samples.Add(Id::kFabricNodes, {"", "overlapping"}, Value(cluster.overlapping.size()));
  }
}

void AddJobs(const cluster::Cluster& cluster, UnixSeconds now, Samples& samples) {
  const cluster::PlacementPods pods(*cluster.inputs);
  std::map<std::string, std::int64_t> phases;
  for (const char* phase : {"Pending", "Placed", "Running", "Restarting", "Suspended", "Complete",
                            "Failed", "Invalid"}) {
    phases[phase] = 0;
  }
  for (const api::TrainingJob& job : cluster.inputs->jobs) {
    ++phases[life::PhaseOf(life::StatusOf(job))];
    AddJob(job, pods.CurrentPlacement(job), now, samples);
  }
  for (const auto& [phase, count] : phases) samples.Add(Id::kJobs, {phase}, Value(count));
  AddCrashes("TrainingJob", cluster.inputs->jobs, samples);
  AddCrashes("Placement", cluster.inputs->placements, samples);
}

void AddGangs(const cluster::Cluster& cluster, const report::AuditReport& report,
              Samples& samples) {
  std::int64_t modelled = 0;
  for (const report::AuditGang& gang : report.gangs) {
    const Labels labels{gang.key.name, gang.key.space, gang.kind,
                        cluster.fabrics[gang.fabric].name()};
    modelled += gang.modelled ? 1 : 0;
    samples.Add(Id::kGangWorkers, labels, Value(gang.workers));
    samples.Add(Id::kGangCrossNodeBytes, labels, Value(gang.now.scores.cross_node_bytes));
    if (!gang.best) continue;
    samples.Add(Id::kGangBestCrossNodeBytes, labels, Value(gang.best->scores.cross_node_bytes));
    if (gang.excess_percent) {
      samples.Add(Id::kGangExcessCost, labels, Value(*gang.excess_percent) / 100);
    }
  }
  const auto all = static_cast<std::int64_t>(report.gangs.size());
  samples.Add(Id::kGangs, {"true"}, Value(modelled));
  samples.Add(Id::kGangs, {"false"}, Value(all - modelled));
}

}  // namespace weft::controllers
