#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/api/admission.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/controllers/planner.h"
#include "operator/controllers/pod_events.h"
#include "operator/controllers/pod_groups.h"
#include "operator/controllers/recorder.h"
#include "operator/controllers/work_queue.h"
#include "operator/controllers/worker_trial.h"
#include "operator/launch/gang.h"
#include "operator/launch/workload.h"
#include "operator/life/job_step.h"
#include "operator/life/job_view.h"
#include "operator/metrics/counters.h"
#include "operator/watch/store.h"

namespace weft::controllers {

struct Named;

// Carries out life::NextStep for TrainingJobs: read the store, decide, do one step, repeat. Every
// answer to a write goes into the store, so that the next reconcile sees it.
// Thread-safety  Reconcile may run in many threads at once, for different jobs.
class JobController {
 public:
  struct Options {
    life::LifeOptions life;
    std::function<UnixSeconds()> now;
    // The gang that an attempt's pods are made from; creates its ConfigMap.
    std::function<Result<launch::Gang>(const api::TrainingJob&, const api::Placement&)> gang_of;
    // Deletes the ComputeDomain of the job's attempt, and with the Placement of a finished job also
    // its Secret.
    std::function<Status(const api::TrainingJob&, const api::Placement*)> delete_files =
        [](const api::TrainingJob&, const api::Placement*) { return Status(); };
    std::size_t writes_at_once = 16;        // in one batch; the transport limits the total
    metrics::Counters* counters = nullptr;  // must outlive the controller; null: nothing is counted
    PodGroups* pod_groups = nullptr;        // must outlive the controller; null: none is made
    PodEvents* pod_events = nullptr;        // likewise; null: nobody asks for events
    // Whether the kinds of Kueue have been listed completely; empty: without Kueue.
    std::function<bool()> kueue_synced = {};
    run::Executor* executor = &run::SystemExecutor();  // of threads that write
  };
  JobController(watch::Store& store, ApiWriter& writer, Planner& planner, Recorder& recorder,
                Log& log, Options options);

  // Does one step for the job.
  // Errors  of the write; the caller retries transient errors and conflicts.
  Result<Outcome> Reconcile(const api::ObjectKey& key);

 private:
  using Answer = Result<Outcome>;

  struct Pass {
    const watch::JobObjects* objects = nullptr;
    const life::JobView* view = nullptr;
    const api::TrainingJob& job() const { return *objects->job; }
  };

  life::JobView ViewOf(const watch::JobObjects& objects) const;

  Answer Do(const Pass& pass, const life::AddFinalizer& step);
  Answer Do(const Pass& pass, const life::RemoveFinalizer& step);
  Answer Do(const Pass& pass, const life::DryRun& step);
  Answer Do(const Pass& pass, const life::RequestPlacement& step);
  Answer Do(const Pass& pass, const life::CreateService& step);
  Answer Do(const Pass& pass, const life::DeleteService& step);
  Answer Do(const Pass& pass, const life::CreatePods& step);
  Answer Do(const Pass& pass, const life::DeletePods& step);
  Answer Do(const Pass& pass, const life::DeletePlacements& step);
  Answer Do(const Pass& pass, const life::DeleteFiles& step);
  Answer Do(const Pass& pass, const life::DeleteJob& step);
  Answer Do(const Pass& pass, const life::WriteStatus& step);
  Answer Do(const Pass& pass, const life::CreateWorkload& step);
  Answer Do(const Pass& pass, const life::WriteWorkload& step);
  Answer Do(const Pass& pass, const life::DropWorkloads& step);
  Answer Do(const Pass& pass, const life::WriteQueue& step);
  Answer Do(const Pass& pass, const life::Wait& step);

  std::optional<life::QueueView> QueueViewOf(const watch::JobObjects& objects) const;
  std::vector<life::DomainRate> RatesOf(const watch::JobObjects& objects) const;
  Result<launch::QueuePriority> PriorityOf(const api::TrainingJob& job);
  Answer StoreWorkload(const Pass& pass, const Named& stored);
  Result<WorkerTrial> Try(const Pass& pass);
  Answer TrialRefused(const Pass& pass, const std::string& why);
  std::string ValidText(const api::TrainingJob& job) const;
  Answer WriteStatusOf(const Pass& pass, const life::JobStatus& status);
  Answer Answered(const Pass& pass, Answer answer);
  Status WriteAdmission(const api::TrainingJob& job,
                        const std::optional<api::Admission>& admission);
  Answer StoreJob(const Result<nlohmann::json>& stored);
  Answer Replace(const watch::Service& service);
  Status Delete(const watch::Service& service);
  Answer CreateRefused(const Pass& pass, const Error& error);
  Error NameTaken(const Pass& pass, const char* action, const std::string& why);
  Error ServiceRefused(const Pass& pass, const std::string& why);
  Status CreatePod(const launch::Gang& gang, std::int64_t attempt, WorkerIndex worker);
  void Created(const api::ObjectMeta& job);
  void RecordEvents(const api::TrainingJob& job, const life::JobStatus& status);
  void Count(const Pass& pass, const life::JobStatus& status) const;

  watch::Store& store_;
  ApiWriter& writer_;
  Planner& planner_;
  Recorder& recorder_;
  Log& log_;
  const Options options_;

  // What is remembered of a job between reconciles; a new leader starts without it.
  struct Memory {
    std::string uid;                // uid of the job, since a later job may have its name
    UnixSeconds counted = 0;        // when status was written last
    UnixSeconds tried = 0;          // when the last dry run of worker 0 was made
    UnixSeconds refused_since = 0;  // of dry runs that were refused in a row
    UnixSeconds start_differs = 0;  // life::JobView has it
    UnixSeconds created = 0;        // when a pod or the Service was last created
    UnixSeconds failing = 0;        // since when every step fails; 0: the last one did not
    std::string valid;              // message of a successful dry run of this generation
    std::string refused;            // message of a dry run of this generation that was refused
    std::int64_t valid_generation = 0;
    std::string taken;               // message of the last event about a taken name
    UnixSeconds service_retry = 0;   // when the Service may be tried again
    std::int64_t seen_attempt = 0;   // the attempt that both are of
    ByWorker<bool> seen, succeeded;  // life::JobView has them

    // The worker's pod exists or existed.
    void See(std::int64_t attempt, WorkerIndex worker, bool has_succeeded);
  };
  Memory& MemoryOf(const api::ObjectMeta& job) const;  // mutex_ must be held

  mutable std::mutex mutex_;
  mutable std::map<api::ObjectKey, Memory> memory_;
};

}  // namespace weft::controllers
