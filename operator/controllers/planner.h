#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/base/refusal.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/under_way.h"
#include "operator/life/exclusion_memory.h"
#include "operator/life/job_view.h"
#include "operator/life/kueue_check.h"
#include "operator/metrics/counters.h"
#include "operator/outlook/prices.h"
#include "operator/plan/best_costs.h"
#include "operator/plan/crashed_kinds.h"
#include "operator/plan/plan_report.h"
#include "operator/plan/solver_crash.h"
#include "operator/run/executor.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// Places the pending workloads in the operator's order and commits each placement: creates the
// Placement and writes its nodes by compare-and-swap. One thread plans and commits, so that no two
// plans use the same nodes.
//
// A pass takes all pending workloads. It starts when all commits of the last pass are answered, so
// the store has their claims. If no workload is new, the next pass waits until the cluster changes
// or a workload's wait ends, and pauses are several times as long as a pass.
// Thread-safety  all calls may run at once.
class Planner {
 public:
  struct Options {
    std::function<UnixSeconds()> now;
    std::string space;  // only Placements of this namespace; "": all
    // A refusal's text has changed: of a TrainingJob, of a Workload of Kueue.
    std::function<void(const api::ObjectKey& job)> on_answer;
    std::function<void(const api::ObjectKey& workload)> on_workload_answer;
    std::size_t commits_at_once = 8;
    std::int64_t reserve_seconds = 600;       // wait after which nodes are reserved for a job
    const outlook::Prices* prices = nullptr;  // must outlive the planner; null: no costs
    metrics::Counters* counters = nullptr;    // must outlive the planner; null: nothing is counted
    plan::Deciding deciding;                  // may be null (run_solver.h)
    UnderWay* under_way = nullptr;            // must outlive the planner; null: not marked
    std::string version;                      // of the operator: whose crashes of the solver count
    run::Executor* executor = &run::SystemExecutor();  // of waits, and of threads that commit
  };
  Planner(watch::Store& store, watch::FabricCache& cache, ApiWriter& writer, Log& log,
          Options options);

  // The job requests nodes for its next attempt.
  void Enqueue(const api::TrainingJob& job);
  // A Workload requests nodes for these Placements (life/kueue_check.h), which need not exist. They
  // get nodes all together or not at all.
  void Enqueue(const std::string& reservation, std::vector<api::Placement> placements);
  // Withdraws the job's request, or that of a reservation.
  void Drop(const std::string& uid);
  // Withdraws the requests of all reservations of the Workload.
  void Withdraw(const std::string& workload_uid);
  // The job's attempt on these nodes (by worker) is over: the next attempt should use them again.
  void StorePrevious(const std::string& uid, const std::vector<std::string>& nodes);
  // The job, or the Placement, excludes these nodes. Must be told of new ones at once, so that
  // nodes that are made again later are known (life/exclusion_memory.h).
  void SeeExcluded(const std::string& uid, const std::vector<api::ExcludedNode>& excluded);
  // Of whom anything is remembered (requests, refusals, writes that failed, nodes of the last
  // attempt): uids of jobs and Placements, and reservations.
  std::set<std::string> Requesters() const;
  std::optional<Refusal> RefusalOf(const api::TrainingJob& job) const;
  std::optional<Refusal> RefusalOf(const std::string& reservation) const;
  // Called when an input of the plan has changed.
  void OnCapacity();

  // Runs passes until Stop.
  void Run();
  // One pass over all pending workloads, for a caller without threads.
  void Pass();
  void Stop();

 private:
  struct Reported {
    std::int64_t generation = 0;
    Refusal refusal;
    UnixSeconds at = 0;
    std::int64_t pause_seconds = 0;  // after `at`, before another text of the same reason
  };

  // Writes for a workload that the API server did not take.
  struct Unwritten {
    std::int64_t times = 0;  // in a row
    UnixSeconds not_before = 0;
  };

  bool AwaitWork();
  std::vector<std::string> PreviousOf(const std::string& uid) const;
  void DropMadeAgain(const std::string& uid, std::vector<api::ExcludedNode>& excluded);
  life::ExclusionMemory::UidOf UidOfNode() const;
  using NodeRequests = std::map<std::string, std::vector<api::Placement>>;
  // The requests of jobs, by uid, and of reservations.
  std::pair<std::set<std::string>, NodeRequests> Requests() const;
  void AddProposals(const NodeRequests& asked, UnixSeconds now, api::Inputs& inputs);
  void DropStale(const std::set<std::string>& asked, const std::set<std::string>& known);
  void DropLostReservations(NodeRequests& asked);
  bool IsPaused(const std::string& id, UnixSeconds now);
  std::int64_t PauseAfter(const std::string& id, const Error& error);
  std::optional<watch::Store::Snapshot> Collect();
  Result<plan::PlanReport> Solve(const cluster::Cluster& cluster);
  void Answer(const cluster::Cluster& cluster, const plan::PlanEntry& entry);
  Status Commit(const cluster::Cluster& cluster, const plan::PlanEntry& entry);
  Result<api::Placement> CreateOf(const api::TrainingJob& job, const nlohmann::json& placement);
  Result<api::Placement> CreateOf(const api::Placement& proposed, const nlohmann::json& placement);
  Result<api::Placement> Create(const nlohmann::json& placement);
  void Report(const cluster::Cluster& cluster, const cluster::WorkloadView& workload,
              const plan::Refused& refused);
  void Refuse(const api::TrainingJob& job, const plan::Refused& refused);
  // A workload in refusals_.
  struct Requester {
    const std::string& id;  // uid or reservation
    std::int64_t generation = 0;
    const std::vector<api::ExcludedNode>& excluded;
  };
  bool ShouldReport(const Requester& requester, const plan::Refused& refused);
  void WakeAtLocked(UnixSeconds time);  // mutex_ must be held
  void WakeAt(UnixSeconds time);
  void Count(const char* result, const std::string& reason) const;
  void RefusePlacement(const api::Placement& placement, const std::string& reservation,
                       const plan::Refused& refused);

  watch::Store& store_;
  watch::FabricCache& cache_;
  ApiWriter& writer_;
  Log& log_;
  const Options options_;
  plan::BestCosts best_costs_;        // used by Pass only, from one pass to the next
  plan::CrashedKinds crashed_kinds_;  // likewise

  mutable std::mutex mutex_;
  const std::unique_ptr<run::Condition> changed_;
  bool stopped_ = false;
  bool capacity_changed_ = false;
  bool asked_anew_ = false;
  std::optional<UnixSeconds> next_wake_;  // when time alone may change an answer
  std::set<std::string> asked_;           // uids of jobs
  NodeRequests queued_;                   // Placements that Workloads ask for
  // Nodes of the last attempt, by uid of the job. A new leader does not have them: it plans a
  // restart that began before its time like a first start.
  std::map<std::string, std::vector<std::string>> previous_;
  life::ExclusionMemory exclusions_;
  std::map<std::string, Reported> refusals_;    // by uid of the job, or by reservation
  std::map<std::string, Unwritten> unwritten_;  // likewise
  std::int64_t last_pass_milliseconds_ = 0;     // without its writes
};

}  // namespace weft::controllers
