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
   "Always 1; the label is the version of the operator."},
  {Id::kLeader, "weft_leader", kGauge, kProcess, {},
   "1 if this replica is the leader, else 0."},
  {Id::kSynced, "weft_synced", kGauge, kProcess, {},
   "1 once the leader has read the whole cluster, else 0."},
  {Id::kQueueDepth, "weft_queue_depth", kGauge, kProcess, {"controller"},
   "Objects that wait for a reconcile or are in one."},
  {Id::kReconcileSeconds, "weft_reconcile_seconds", kHistogram, kEvents, {"controller"},
   "Time of one reconcile of one object, including its writes."},
  {Id::kReconcileFailures, "weft_reconcile_failures_total", kCounter, kEvents, {"controller"},
   "Reconciles that failed with an error other than a conflict and are requeued."},
  {Id::kWatchRestarts, "weft_watch_restarts_total", kCounter, kEvents, {"kind"},
   "Watches that broke and were restarted."},
  {Id::kWatchSilence, "weft_watch_silence_seconds", kGauge, kProcess, {"kind"},
   "Time since the API server last sent anything about the kind."},
  {Id::kEventLag, "weft_event_lag_seconds", kHistogram, kEvents, {},
   "Time from the arrival of a chunk of a watch until all of its events are in the operator's "
   "cache."},
  {Id::kUnreadableObjects, "weft_unreadable_objects_total", kCounter, kEvents, {"kind"},
   "Received versions of objects that could not be read; the log names the object and the "
   "reason."},
  {Id::kApiWrites, "weft_api_writes_total", kCounter, kEvents, {"verb", "kind", "result"},
   "Writes to the API server by result: OK, Conflict, Invalid, NotFound, Error."},
  {Id::kApiWriteSeconds, "weft_api_write_seconds", kHistogram, kEvents, {"verb"},
   "Time of one write to the API server, including waiting and retries."},
  {Id::kEventsDropped, "weft_events_dropped_total", kCounter, kEvents, {},
   "Kubernetes events that could not be written."},
  {Id::kStepMetricQueries, "weft_step_metric_queries_total", kCounter, kEvents, {"result"},
   "Queries to Prometheus for the metrics that jobs name in the annotation weft.dev/step-metric, "
   "by result: OK, Empty (no series) or Error (no answer)."},
  {Id::kPlacements, "weft_placements_total", kCounter, kEvents, {"result", "reason"},
   "Answers of the planner: Placed, Refused (counted again when its message changes) or "
   "NotCommitted, with the reason of the condition Placed."},
  {Id::kAdmissionChecks, "weft_admission_checks_total", kCounter, kEvents, {"state"},
   "Answers to Kueue's AdmissionChecks: Ready, Pending (again when its message changes), Retry or "
   "Rejected."},
  {Id::kSolveSeconds, "weft_solve_seconds", kHistogram, kEvents, {},
   "Time to find one placement: traffic, search, scores and bound."},
  {Id::kPlanPassSeconds, "weft_plan_pass_seconds", kHistogram, kEvents, {},
   "Time of one planner pass over all pending workloads, including the writes of its answers."},
  {Id::kBindSeconds, "weft_bind_seconds", kHistogram, kEvents, {},
   "Time from a placement until kube-scheduler bound the whole gang."},
  {Id::kBindRefusals, "weft_bind_refusals_total", kCounter, kEvents, {"reason"},
   "Attempts that were taken down before all their pods were bound."},
  {Id::kJobWaitSeconds, "weft_trainingjob_wait_seconds", kHistogram, kEvents,
   {"fabric", "size_class"},
   "Time that a job waited for its nodes; size_class is its number of workers, rounded up to a "
   "power of two."},
  {Id::kJobAttempts, "weft_trainingjob_attempts_total", kCounter, kEvents, {"cause"},
   "Attempts that got nodes, by what started them: Submitted, Resumed, or the reason why the "
   "previous attempt ended."},
  {Id::kJobLostAcceleratorSeconds, "weft_trainingjob_lost_accelerator_seconds_total", kCounter,
   kEvents, {"cause"},
   "Accelerator-seconds of attempts that were taken down, counted from their placement; an "
   "upper bound of the loss. weft_trainingjob_lost_seconds knows checkpoints."},
  {Id::kLostAcceleratorSeconds, "weft_lost_accelerator_seconds_total", kCounter, kEvents,
   {"workload_namespace", "queue"},
   "Accelerator-seconds of attempts that were taken down, by namespace and LocalQueue (empty "
   "without one) of the TrainingJob; 0 from the first time that such a job gets nodes."},
  {Id::kJobsEnded, "weft_trainingjobs_ended_total", kCounter, kEvents, {"result", "reason"},
   "Jobs that ended, by result: Complete or Failed."},
  {Id::kCollectSeconds, "weft_collect_seconds", kGauge, kProcess, {},
   "Time that it last took to compute the metrics that are read from the operator's cache."},
  {Id::kProcessCpu, "process_cpu_seconds_total", kCounter, kProcess, {},
   "User and system time of the process."},
  {Id::kProcessMemory, "process_resident_memory_bytes", kGauge, kProcess, {},
   "Resident memory of the process."},
  {Id::kProcessFiles, "process_open_fds", kGauge, kProcess, {},
   "Open file descriptors of the process."},
  {Id::kProcessStart, "process_start_time_seconds", kGauge, kProcess, {},
   "Start time of the process, in seconds since the epoch."},

  {Id::kFabricNodes, "weft_fabric_nodes", kGauge, kFleet, {"fabric", "state"},
   "Nodes by state: free (no accelerator in use), partial, full, cordoned, unusable, incomplete "
   "(the label of a level is missing), overlapping (in two Fabrics)."},
  {Id::kFabricAccelerators, "weft_fabric_accelerators", kGauge, kFleet,
   {"fabric", "accelerator", "product", "state"},
   "Accelerators by state: used, free, unavailable (free, but on a cordoned or unusable node); "
   "the product comes from node labels or Fabric.spec.acceleratorModel and names the part of "
   "which one unit is (H100 MIG 1g.10gb)."},
  {Id::kFabricDomains, "weft_fabric_domains", kGauge, kFleet, {"fabric", "level"},
   "Domains of a level."},
  {Id::kFabricFreeSlots, "weft_fabric_free_slots", kGauge, kFleet,
   {"fabric", "level", "product", "slot_nodes"},
   "Number of jobs of slot_nodes nodes that could start now, each on wholly free nodes of one "
   "product and capacity type inside one domain of the level."},
  {Id::kFabricLargestFreeBlock, "weft_fabric_largest_free_block_nodes", kGauge, kFleet,
   {"fabric", "level"},
   "Wholly free nodes of the domain that has the most of them."},
  {Id::kFabricStranded, "weft_fabric_stranded_accelerators", kGauge, kFleet,
   {"fabric", "level", "product", "slot_nodes"},
   "Free accelerators of the product that no free slot of slot_nodes nodes can use."},
  {Id::kFabricValid, "weft_fabric_valid", kGauge, kFleet, {"fabric"},
   "1 if the Fabric can be used, 0 if its spec is invalid and nothing is placed on it."},
  {Id::kUsageAccelerators, "weft_usage_accelerators", kGauge, kFleet,
   {"fabric", "workload_namespace", "queue", "accelerator", "product", "capacity_type", "state"},
   "Accelerators by who uses them: allocated (pods of the namespace hold them, or they are kept for "
   "its jobs) or stranded (free on a node whose other accelerators these pods hold, so that no job "
   "of whole nodes can use them; nodes that several share count in proportion). The queue is the "
   "LocalQueue of Kueue, empty without one."},
  {Id::kPodQueue, "weft_pod_queue_info", kGauge, kFleet,
   {"workload_namespace", "workload_pod", "queue"},
   "Always 1, for each pod with accelerators of a namespace that uses several queues; joins DCGM's "
   "metrics with queues."},
  {Id::kDomainNodes, "weft_fabric_domain_nodes", kGauge, kFleet, {"fabric", "level", "domain"},
   "Nodes of a domain; only for levels with few domains."},
  {Id::kDomainFreeNodes, "weft_fabric_domain_free_nodes", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Wholly free nodes of a domain; only for levels with few domains."},
  {Id::kDomainStepBytes, "weft_fabric_domain_predicted_step_bytes", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Predicted bytes that leave the domain in one optimizer step of every running job; only for "
   "levels with few domains."},
  {Id::kDomainUplinkSeconds, "weft_fabric_domain_predicted_uplink_seconds", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Predicted time that the domain's uplink needs for the bytes that leave it in one optimizer "
   "step of every running job."},
  {Id::kDomainWatts, "weft_fabric_domain_predicted_watts", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "Predicted power of the domain's GPUs that jobs hold, with their share of the servers and "
   "without cooling; jobs on unknown accelerators are left out."},
  {Id::kDomainPowerHeadroom, "weft_fabric_domain_power_headroom_watts", kGauge, kFleet,
   {"fabric", "level", "domain"},
   "What the level's powerWatts leaves in the domain if all accelerators in use there draw full "
   "power, with their share of the servers; only for levels with powerWatts."},

  {Id::kJobs, "weft_trainingjobs", kGauge, kFleet, {"phase"},
   "TrainingJobs by phase."},
  {Id::kSolverCrashes, "weft_solver_crash_records", kGauge, kFleet, {"kind", "state"},
   "TrainingJobs and Placements whose condition SolverFailed says that the solver crashed while it "
   "chose their nodes: retried (once) or refused (twice)."},
  {Id::kJobInfo, "weft_trainingjob_info", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "fabric", "phase", "size_class"},
   "Always 1; the fabric is the one that the TrainingJob is placed on."},
  {Id::kJobWaiting, "weft_trainingjob_waiting_since_timestamp_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "reason"},
   "Start of the wait of a job without nodes, in seconds since the epoch, with the reason of the "
   "condition Placed."},
  {Id::kJobWantedAccelerators, "weft_trainingjob_wanted_accelerators", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "accelerator"},
   "Accelerators that a job without nodes waits for."},
  {Id::kJobWorkers, "weft_trainingjob_workers", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "state"},
   "Workers by state: desired, ready, succeeded, failed."},
  {Id::kJobRestarts, "weft_trainingjob_restarts", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Restarts that count against the job's failurePolicy."},
  {Id::kJobFailures, "weft_trainingjob_failures", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Failures that ended training or a recovery, of a job with spec.checkpoint; this and the next "
   "eight are absent without it."},
  {Id::kJobKeptSeconds, "weft_trainingjob_kept_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Training of the job that a checkpoint holds. Kept and all lost seconds together are the wall "
   "time since all workers were ready first, without planned stops."},
  {Id::kJobLostSeconds, "weft_trainingjob_lost_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "part", "exact"},
   "Time that the job has lost, by part: LostWork (training after the last checkpoint before a "
   "failure or a stop), Detect, Replace, Start, Load. LostWork with exact=false is an upper bound, "
   "because no checkpoint was known."},
  {Id::kJobEffectiveTime, "weft_trainingjob_effective_time_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Kept seconds as a share of kept and lost ones."},
  {Id::kJobRecovery, "weft_trainingjob_recovery_since_timestamp_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "cause", "phase"},
   "Time of the failure from which the job recovers, in seconds since the epoch, with the phase of "
   "the recovery: Detecting, Stopping, Replacing, Starting or Loading."},
  {Id::kJobLastCheckpoint, "weft_trainingjob_last_checkpoint_timestamp_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Time of the last checkpoint that the job reported, in seconds since the epoch."},
  {Id::kJobUnsavedSince, "weft_trainingjob_unsaved_since_timestamp_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Start of the training that no checkpoint holds yet, in seconds since the epoch; absent while "
   "the job does not train."},
  {Id::kJobCheckpointInterval, "weft_trainingjob_checkpoint_interval_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "spec.checkpoint.intervalSeconds, where the job sets it."},
  {Id::kJobAdvisedInterval, "weft_trainingjob_advised_checkpoint_interval_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Interval between checkpoints that loses least at the rates of failures of what the job runs "
   "on."},
  {Id::kJobDomains, "weft_trainingjob_domains", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "level"},
   "Number of domains of the level that hold the job's nodes."},
  {Id::kJobStepBytes, "weft_trainingjob_predicted_step_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "axis", "level"},
   "Predicted bytes that the job sends in one optimizer step, by axis and by the level that "
   "carries them."},
  {Id::kJobCrossNodeBytes, "weft_trainingjob_predicted_cross_node_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted bytes between the job's nodes in one optimizer step."},
  {Id::kJobBestCrossNodeBytes, "weft_trainingjob_best_cross_node_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted bytes between nodes in one optimizer step, had the job been placed on an empty "
   "fabric."},
  {Id::kJobCostOverBound, "weft_trainingjob_cost_over_lower_bound_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Cost of the placement divided by a lower bound for every placement on the capacity that was "
   "free; 1 is the best."},
  {Id::kJobCostOverBest, "weft_trainingjob_cost_over_best_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Cost of the placement divided by the cost of the one that the same search finds on the "
   "empty fabric; 1 is the best."},
  {Id::kJobContention, "weft_trainingjob_predicted_contention_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted time of a step while the other running jobs send over the same uplinks, divided by "
   "its time if the job used them alone; 1 means that no uplink of the job is full."},
  {Id::kJobCommunicationSeconds, "weft_trainingjob_predicted_communication_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted communication time of one optimizer step, without overlap."},
  {Id::kJobStepSeconds, "weft_trainingjob_predicted_step_seconds", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted time of one optimizer step on the job's nodes."},
  {Id::kJobTokensPerSecond, "weft_trainingjob_predicted_tokens_per_second", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted tokens per second of the whole job."},
  {Id::kJobMfu, "weft_trainingjob_predicted_mfu_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted FLOPs of the model per second, as a share of the accelerators' dense peak."},
  {Id::kJobMemoryBytes, "weft_trainingjob_predicted_memory_bytes", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted memory that the job uses on its fullest GPU."},
  {Id::kJobMemoryRatio, "weft_trainingjob_predicted_memory_ratio", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted memory that the job uses on its fullest GPU, as a share of what training software "
   "can use there; above 1 the job does not fit."},
  {Id::kJobWatts, "weft_trainingjob_predicted_watts", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted power of the job's GPUs with their share of the servers, without cooling."},
  {Id::kJobAcceleratorWatts, "weft_trainingjob_predicted_accelerator_watts", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace"},
   "Predicted power of the job's GPUs alone, as DCGM measures it."},
  {Id::kJobCostPerHour, "weft_trainingjob_cost_per_hour", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "currency"},
   "What the job's nodes cost in an hour by the table of prices that the operator was given."},
  {Id::kJobWorkerInfo, "weft_trainingjob_worker_info", kGauge, kJobs,
   {"trainingjob", "trainingjob_namespace", "worker", "worker_pod", "worker_node"},
   "Always 1, for each worker that has a node; joins the job with metrics of pods and nodes, "
   "such as DCGM's."},

  {Id::kGangWorkers, "weft_gang_workers", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Workers of a gang that another scheduler placed."},
  {Id::kGangCrossNodeBytes, "weft_gang_cross_node_bytes", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Predicted bytes between the gang's nodes in one optimizer step; a gang without a model "
   "counts as a ring with one byte per rank."},
  {Id::kGangBestCrossNodeBytes, "weft_gang_best_cross_node_bytes", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Predicted bytes between nodes in one optimizer step on the nodes that Weft would choose "
   "now."},
  {Id::kGangExcessCost, "weft_gang_excess_cost_ratio", kGauge, kAudit,
   {"gang", "gang_namespace", "gang_kind", "fabric"},
   "Excess cost of the gang's placement over the one that Weft would choose now, as a share of "
   "the latter; 0 is the best."},
  {Id::kGangs, "weft_gangs", kGauge, kAudit, {"modelled"},
   "Gangs that other schedulers placed, by whether a Placement states their model."},
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
      {kProcess, "Metrics of every replica"},
      {kEvents, "Counters and histograms of the leader since its start"},
      {kFleet, "Gauges of the leader, read from its cache of the cluster"},
      {kJobs, "Gauges of the leader for each TrainingJob, removed with it"},
      {kAudit,
       "Gauges of an operator with `--read-only` for each gang that another scheduler "
       "placed"},
  };
  std::string out;
  for (const auto& [origin, title] : kParts) {
    out.append("\n## ").append(title).append("\n\n| metric | type | labels | meaning |\n");
    out.append("| --- | --- | --- | --- |\n");
    for (const Metric& metric : kCatalogue) {
      if (metric.origin == origin) AppendRow(out, metric);
    }
  }
  return out;
}

}  // namespace weft::metrics
