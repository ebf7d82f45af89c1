#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "operator/controllers/fabric_controller.h"
#include "operator/controllers/fleet_collector.h"
#include "operator/controllers/foreign_controller.h"
#include "operator/controllers/gang_files.h"
#include "operator/controllers/job_controller.h"
#include "operator/controllers/learned_controller.h"
#include "operator/controllers/placement_controller.h"
#include "operator/controllers/placement_log.h"
#include "operator/controllers/planner.h"
#include "operator/controllers/pod_events.h"
#include "operator/controllers/pod_group_release.h"
#include "operator/controllers/pod_groups.h"
#include "operator/controllers/recorder.h"
#include "operator/controllers/step_metric_controller.h"
#include "operator/controllers/under_way.h"
#include "operator/controllers/work_queue.h"
#include "operator/controllers/workload_controller.h"
#include "operator/kube/transport.h"
#include "operator/life/kueue_check.h"
#include "operator/metrics/counters.h"
#include "operator/run/executor.h"
#include "operator/watch/cluster_watch.h"

namespace weft::controllers {

// The operator of a leader: reads all objects, then plans and reconciles jobs until Stop. It is
// created when this process becomes leader, so that no decision uses older objects.
// Thread-safety  Start and Stop from one thread; the others from any.
class Operator {
 public:
  struct Options {
    std::string space;  // only jobs of this namespace; "": all
    JobController::Options jobs;
    Planner::Options planner;  // the operator sets on_answer
    FabricController::Options fabrics;
    LearnedController::Options learned;
    StepMetricController::Options step_metrics;
    FleetCollector::Options figures;
    bool kueue = false;  // answer AdmissionChecks of Kueue, and queue TrainingJobs there
    life::CheckOptions check;
    metrics::Counters* counters = nullptr;  // must outlive the operator; null: nothing is counted
    std::vector<std::string> accelerator_resources;  // beside those that objects name
    std::string verify_image;                        // of the init container weft-verify; "": none
    bool pod_groups = true;   // attempts have PodGroups where the servers know them
    bool read_only = false;   // follows the cluster without writing to it
    std::size_t workers = 8;  // threads that reconcile jobs; as many reconcile Placements
    // Everything is looked at again so often, each object at a random moment within the time: a
    // change that nobody noticed is then a delay. 0: never.
    run::Millis look_again = std::chrono::minutes(5);
    std::uint64_t seed = 0;                            // for the watches and of these moments
    run::Executor* executor = &run::SystemExecutor();  // of all its threads and waits
  };
  Operator(kube::Transport& transport, ApiWriter& writer, Recorder& recorder, Log& log,
           Options options);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void Start();
  void Stop();
  // The cluster as this operator knows it.
  watch::ClusterWatch& cluster() { return cluster_; }
  // Adds gauges of queue depth and watch silence.
  void Measure(metrics::Samples& samples) const;
  // Metrics of fabrics, jobs and gangs. They are computed only after a change; this may take
  // seconds.
  std::shared_ptr<const FleetCollector::Figures> Figures() { return figures_.Collect(); }
  std::shared_ptr<const PlacementLog> decisions() const { return decisions_; }
  const Planner& planner() const { return planner_; }
  // The passes and reconciles of now.
  const UnderWay& under_way() const { return under_way_; }

 private:
  using Pass = std::function<Result<Outcome>(const api::ObjectKey&)>;
  bool AwaitSynced();
  void Work();
  void LookAgain();
  struct Loop {
    const char* name;  // the controller's name in metrics
    WorkQueue& queue;
    Pass pass;
  };
  bool Serves(const api::ObjectKey& key) const;  // whether its namespace is one of ours
  std::function<bool()> KueueSynced() const;     // empty without --kueue
  Result<Outcome> TryPass(const Loop& loop, const api::ObjectKey& key);
  void Hang();  // until it is stopped: a bug that is planted
  void Reconcile(const Loop& loop);
  void Settle(const Loop& loop, const api::ObjectKey& key, const Result<Outcome>& outcome,
              WorkQueue::Duration took);
  watch::StoreHooks HooksOfStore();
  watch::WatchHooks HooksOfWatch();
  void Count(metrics::Id id, const std::string& label);

  Log& log_;
  const Options options_;
  std::mutex synced_mutex_;  // of nothing else
  const std::unique_ptr<run::Condition> synced_changed_;
  UnderWay under_way_;
  watch::ClusterWatch cluster_;
  WorkQueue queue_;    // jobs
  WorkQueue gangs_;    // Placements of other controllers' pods
  WorkQueue foreign_;  // gangs of other controllers that ask for a Placement
  WorkQueue checks_;   // Workloads of Kueue, and AdmissionChecks
  WorkQueue groups_;   // PodGroups
  const std::shared_ptr<PlacementLog> decisions_;
  FleetCollector figures_;
  PodGroups pod_groups_;
  PodEvents pod_events_;
  PodGroupRelease releases_;
  GangFiles files_;
  FabricController fabrics_;
  LearnedController learned_;
  StepMetricController step_metrics_;
  Planner planner_;
  JobController controller_;
  PlacementController placements_;
  ForeignController foreigners_;
  WorkloadController workloads_;
  std::atomic<bool> stopped_{false};
  std::unique_ptr<run::Thread> thread_;
};

}  // namespace weft::controllers
