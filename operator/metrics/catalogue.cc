#include "operator/metrics/catalogue.h"

#include <algorithm>
#include <utility>

namespace weft::metrics {
namespace {

using enum Type;
using enum Origin;

// clang-format off
constexpr Metric kCatalogue[] = {
  {Id::kBuildInfo, "weft_build_info", kGauge, kProcess, {"version"},
   "1, with the version of the operator."},
  {Id::kLeader, "weft_leader", kGauge, kProcess, {},
   "1 where this replica leads, else 0."},
  {Id::kSynced, "weft_synced", kGauge, kProcess, {},
   "1 once the leader has read the whole cluster, else 0."},
  {Id::kQueueDepth, "weft_queue_depth", kGauge, kProcess, {"controller"},
   "Objects that wait for a pass or are in one."},
  {Id::kReconcileSeconds, "weft_reconcile_seconds", kHistogram, kEvents, {"controller"},
   "Time of one pass over one object, its writes included."},
  {Id::kReconcileFailures, "weft_reconcile_failures_total", kCounter, kEvents, {"controller"},
   "Passes that ended in an error other than a conflict and are tried again."},
  {Id::kWatchRestarts, "weft_watch_restarts_total", kCounter, kEvents, {"kind"},
   "Watches that broke and were started again."},
  {Id::kWatchSilence, "weft_watch_silence_seconds", kGauge, kProcess, {"kind"},
   "Time since the API server last said anything about the resource."},
  {Id::kEventLag, "weft_event_lag_seconds", kHistogram, kEvents, {},
   "Time from the arrival of a piece of a watch until all of it is in the operator's copy."},
  {Id::kUnreadableObjects, "weft_unreadable_objects_total", kCounter, kEvents, {"kind"},
   "States of objects that arrived and could not be read; the log says of which object and why."},
  {Id::kApiWrites, "weft_api_writes_total", kCounter, kEvents, {"verb", "kind", "result"},
   "Writes to the API server by their result: OK, Conflict, Invalid, NotFound, Error."},
  {Id::kApiWriteSeconds, "weft_api_write_seconds", kHistogram, kEvents, {"verb"},
   "Time of one write to the API server, waiting for its turn and retries included."},
  {Id::kEventsDropped, "weft_events_dropped_total", kCounter, kEvents, {},
   "Kubernetes events that could not be written."},
  {Id::kPlacements, "weft_placements_total", kCounter, kEvents, {"result", "reason"},
   "Answers of the planner: Placed, Refused (a refusal in other words is counted again) and "
   "NotCommitted, with the reason of the condition Placed."},
  {Id::kSolveSeconds, "weft_solve_seconds", kHistogram, kEvents, {},
   "Time to find one placement: traffic, search, scores and bound."},
  {Id::kPlanPassSeconds, "weft_plan_pass_seconds", kHistogram, kEvents, {},
   "Time of one pass of the planner over everything that waits, commits included."},
  {Id::kBindSeconds, "weft_bind_seconds", kHistogram, kEvents, {},
   "Time from a placement until kube-scheduler had bound the whole gang."},
  {Id::kBindRefusals, "weft_bind_refusals_total", kCounter, kEvents, {"reason"},
   "Attempts that were undone before all their pods were bound."},
  {Id::kJobWaitSeconds, "weft_trainingjob_wait_seconds", kHistogram, kEvents,
   {"fabric", "size_class"},
   "Time that a job waited for its nodes, by its workers rounded up to a power of two."},
  {Id::kJobAttempts, "weft_trainingjob_attempts_total", kCounter, kEvents, {"cause"},
   "Attempts that got nodes, by why there is another: Submitted, Resumed, or what ended the last."},
  {Id::kJobLostAcceleratorSeconds, "weft_trainingjob_lost_accelerator_seconds_total", kCounter,
   kEvents, {"cause"},
   "Accelerators times seconds of attempts that were undone, since their placement: at most what "
   "was lost, since Weft does not see checkpoints."},
  {Id::kJobsEnded, "weft_trainingjobs_ended_total", kCounter, kEvents, {"result", "reason"},
   "Jobs that came to their end: Complete or Failed."},
  {Id::kCollectSeconds, "weft_collect_seconds", kGauge, kProcess, {},
   "Time that the figures read from the copy of the cluster took, the last time they changed."},
  {Id::kProcessCpu, "process_cpu_seconds_total", kCounter, kProcess, {},
   "User and system time of the process."},
  {Id::kProcessMemory, "process_resident_memory_bytes", kGauge, kProcess, {},
   "Resident memory of the process."},
  {Id::kProcessFiles, "process_open_fds", kGauge, kProcess, {},
   "Open file descriptors of the process."},
  {Id::kProcessStart, "process_start_time_seconds", kGauge, kProcess, {},
   "When the process started, in seconds since the epoch."},

  {Id::kFabricNodes, "weft_fabric_nodes", kGauge, kFleet, {"fabric", "state"},
   "Nodes: free (no accelerator in use), partial, full, cordoned, unusable, incomplete (a level's "
   "label is missing), overlapping (in two fabrics)."},
  {Id::kFabricAccelerators, "weft_fabric_accelerators", kGauge, kFleet,
   {"fabric", "accelerator", "product", "state"},
   "Accelerators: used, free, and unavailable (free, on nodes that are cordoned or unusable), by "
   "the product that node labels or Fabric.spec.acceleratorModel name."},
  {Id::kFabricDomains, "weft_fabric_domains", kGauge, kFleet, {"fabric", "level"},
   "Domains of a level."},
  {Id::kFabricFreeSlots, "weft_fabric_free_slots", kGauge, kFleet,
   {"fabric", "level", "product", "slot_nodes"},
   "Sets of so many wholly free nodes of one product and capacity type that lie in one domain of the "
   "level, disjoint from each other: jobs of that size that could start now."},
  {Id::kFabricLargestFreeBlock, "weft_fabric_largest_free_block_nodes", kGauge, kFleet,
   {"fabric", "level"},
   "Wholly free nodes of the domain that has most of them."},
  {Id::kFabricStranded, "weft_fabric_stranded_accelerators", kGauge, kFleet,
   {"fabric", "level", "product", "slot_nodes"},
   "Accelerators of the product that are free, but in no slot of that size."},
  {Id::kFabricValid, "weft_fabric_valid", kGauge, kFleet, {"fabric"},
   "1 where the Fabric can be used, 0 where nothing is placed on it for its spec."},
  {Id::kDomainNodes, "weft_fabric_domain_nodes", kGauge, kFleet, {"fabric", "level", "domain"},
   "Nodes of a domain, of levels with few domains."},
  {Id::kDomainFreeNodes, "weft_fabric_domain_free_nodes", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Wholly free nodes of a domain, of levels with few domains."},
  {Id::kDomainStepBytes, "weft_fabric_domain_predicted_step_bytes", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Bytes that leave the domain in one optimizer step of every running job, as predicted; of "
   "levels with few domains."},
  {Id::kDomainUplinkSeconds, "weft_fabric_domain_predicted_uplink_seconds", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Time that those bytes take on the domain's way out."},

  {Id::kJobs, "weft_trainingjobs", kGauge, kFleet, {"phase"},
   "TrainingJobs by phase."},
  {Id::kJobInfo, "weft_trainingjob_info", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "fabric", "phase", "size_class"},
   "1 for each TrainingJob; the fabric is that of its placement."},
  {Id::kJobWaiting, "weft_trainingjob_waiting_since_timestamp_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "reason"},
   "Since when a job that has no nodes has waited for them, in seconds since the epoch, with the "
   "reason of the condition Placed."},
  {Id::kJobWantedAccelerators, "weft_trainingjob_wanted_accelerators", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "accelerator"},
   "Accelerators that a job which has no nodes waits for."},
  {Id::kJobWorkers, "weft_trainingjob_workers", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "state"},
   "Workers: desired, ready, succeeded, failed."},
  {Id::kJobRestarts, "weft_trainingjob_restarts", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Restarts that count against the job's failurePolicy."},
  {Id::kJobDomains, "weft_trainingjob_domains", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "level"},
   "Domains of a level that the job's nodes lie in."},
  {Id::kJobStepBytes, "weft_trainingjob_predicted_step_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "axis", "level"},
   "Bytes that the job sends in one optimizer step, by axis and by the level that carries them, "
   "as predicted."},
  {Id::kJobCrossNodeBytes, "weft_trainingjob_predicted_cross_node_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Bytes between nodes in one optimizer step."},
  {Id::kJobBestCrossNodeBytes, "weft_trainingjob_best_cross_node_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "The same where the job had the fabric to itself."},
  {Id::kJobCostOverBound, "weft_trainingjob_cost_over_lower_bound_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Cost of the placement over what no placement on the capacity that was free can beat; 1 is the "
   "best."},
  {Id::kJobCostOverBest, "weft_trainingjob_cost_over_best_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Cost of the placement over that of the one that the same search finds with nothing else on the "
   "fabric; 1 is the best."},
  {Id::kJobCommunicationSeconds, "weft_trainingjob_predicted_communication_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Communication of one optimizer step without overlap, as predicted."},
  {Id::kJobWorkerInfo, "weft_trainingjob_worker_info", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "worker", "worker_pod", "worker_node"},
   "1 for each worker that has a node: joins the job with metrics of pods and nodes, such as "
   "DCGM's."},

  {Id::kGangWorkers, "weft_gang_workers", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Workers of a gang that another scheduler placed."},
  {Id::kGangCrossNodeBytes, "weft_gang_cross_node_bytes", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Bytes between its nodes in one optimizer step; without a model of it one byte a rank around a "
   "ring."},
  {Id::kGangBestCrossNodeBytes, "weft_gang_best_cross_node_bytes", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "The same where Weft would place it now."},
  {Id::kGangExcessCost, "weft_gang_excess_cost_ratio", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "What its placement costs beyond the one that Weft finds, over that; 0 is the best."},
  {Id::kGangs, "weft_gangs", kGauge, kAudit, {"modelled"},
   "Gangs that other schedulers placed, with and without a Placement that tells their model."},
};
// clang-format on

constexpr bool InOrder() {
  std::size_t at = 0;
  for (const Metric& metric : kCatalogue) {
    if (static_cast<std::size_t>(metric.id) != at++) return false;
  }
  return true;
}
static_assert(InOrder(), "the catalogue has one row for each Id, in their order");

constexpr double kFine[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10};
constexpr double kCoarse[] = {1, 2, 5, 10, 15, 30, 60, 120, 300};
constexpr double kWaits[] = {1, 5, 15, 60, 300, 900, 3'600, 14'400, 43'200, 86'400, 604'800};

std::string_view TypeName(Type type) {
  return type == kCounter ? "counter" : type == kGauge ? "gauge" : "histogram";
}

void AppendRow(std::string& out, const Metric& metric) {
  out.append("| `").append(metric.name).append("` | ").append(TypeName(metric.type)).append(" | ");
  for (std::size_t i = 0; i < metric.label_count(); ++i) {
    out.append(i == 0 ? "`" : ", `").append(metric.labels[i]).append("`");
  }
  out.append(metric.label_count() == 0 ? "" : " ").append("| ").append(metric.help).append(" |\n");
}

}  // namespace

std::size_t Metric::label_count() const {
  const auto end = std::find(labels.begin(), labels.end(), std::string_view());
  return static_cast<std::size_t>(end - labels.begin());
}

const Metric& Of(Id id) { return kCatalogue[static_cast<std::size_t>(id)]; }

std::span<const Metric> Catalogue() { return kCatalogue; }

std::span<const double> BucketsOf(Id id) {
  if (id == Id::kJobWaitSeconds) return kWaits;
  if (id == Id::kBindSeconds) return kCoarse;
  return kFine;
}

std::string CatalogueTables() {
  constexpr std::pair<Origin, std::string_view> kParts[] = {
      {kProcess, "Of every replica"},
      {kEvents, "Of the leader, counted as it happens since it started"},
      {kFleet, "Of the leader, read from its copy of the cluster"},
      {kJobs, "Of the leader, for each TrainingJob, and gone with it"},
      {kAudit, "Of an operator with `--read-only`, for each gang that others placed"},
  };
  std::string out;
  for (const auto& [origin, title] : kParts) {
    out.append("\n## ").append(title).append("\n\n| metric | type | labels | what it says |\n");
    out.append("| --- | --- | --- | --- |\n");
    for (const Metric& metric : kCatalogue) {
      if (metric.origin == origin) AppendRow(out, metric);
    }
  }
  return out;
}

}  // namespace weft::metrics
