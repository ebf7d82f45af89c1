#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::metrics {

// Every metric of the operator, in the order of the catalogue.
enum class Id : std::uint8_t {
  kBuildInfo,
  kLeader,
  kSynced,
  kQueueDepth,
  kReconcileSeconds,
  kReconcileFailures,
  kWatchRestarts,
  kWatchSilence,
  kEventLag,
  kUnreadableObjects,
  kApiWrites,
  kApiWriteSeconds,
  kEventsDropped,
  kStepMetricQueries,
  kPlacements,
  kAdmissionChecks,
  kSolveSeconds,
  kPlanPassSeconds,
  kBindSeconds,
  kBindRefusals,
  kJobWaitSeconds,
  kJobAttempts,
  kJobLostAcceleratorSeconds,
  kLostAcceleratorSeconds,
  kJobsEnded,
  kCollectSeconds,
  kProcessCpu,
  kProcessMemory,
  kProcessFiles,
  kProcessStart,
  kFabricNodes,
  kFabricAccelerators,
  kFabricDomains,
  kFabricFreeSlots,
  kFabricLargestFreeBlock,
  kFabricStranded,
  kFabricValid,
  kUsageAccelerators,
  kPodQueue,
  kDomainNodes,
  kDomainFreeNodes,
  kDomainStepBytes,
  kDomainUplinkSeconds,
  kDomainWatts,
  kDomainPowerHeadroom,
  kJobs,
  kSolverCrashes,
  kJobInfo,
  kJobWaiting,
  kJobWantedAccelerators,
  kJobWorkers,
  kJobRestarts,
  kJobFailures,
  kJobKeptSeconds,
  kJobLostSeconds,
  kJobEffectiveTime,
  kJobRecovery,
  kJobLastCheckpoint,
  kJobUnsavedSince,
  kJobCheckpointInterval,
  kJobAdvisedInterval,
  kJobDomains,
  kJobStepBytes,
  kJobCrossNodeBytes,
  kJobBestCrossNodeBytes,
  kJobCostOverBound,
  kJobCostOverBest,
  kJobContention,
  kJobCommunicationSeconds,
  kJobStepSeconds,
  kJobTokensPerSecond,
  kJobMfu,
  kJobMemoryBytes,
  kJobMemoryRatio,
  kJobWatts,
  kJobAcceleratorWatts,
  kJobCostPerHour,
  kJobWorkerInfo,
  kGangWorkers,
  kGangCrossNodeBytes,
  kGangBestCrossNodeBytes,
  kGangExcessCost,
  kGangs,
};

enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };

// Where a metric's values come from. This also decides when the metric exists.
enum class Origin : std::uint8_t {
  kProcess,  // read from the replica itself at a scrape
  kEvents,   // events that the leader counts as they happen
  kFleet,    // read from the leader's cache of the cluster at a scrape
  kJobs,     // from the same cache, a set of series for each TrainingJob
  kAudit,    // from the same cache, only with --read-only: gangs of other schedulers
};

inline constexpr std::size_t kMostLabels = 7;

struct Metric {
  Id id;
  std::string_view name;
  Type type;
  Origin origin;
  std::array<std::string_view, kMostLabels> labels;  // unused entries at the end are ""
  std::string_view help;

  std::size_t label_count() const;
};

const Metric& Of(Id id);
std::span<const Metric> Catalogue();

// Upper bounds of a histogram's buckets.
std::span<const double> BucketsOf(Id id);

// The catalogue as Markdown, as in operator/docs/metrics.md: a table for each origin.
std::string CatalogueTables();

}  // namespace weft::metrics
