#include "operator/controllers/operator.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "operator/base/random.h"
#include "operator/base/seeded_bug.h"

namespace weft::controllers {
namespace {

// While a gang starts, hundreds of its pods change, and one reconcile handles all of them: changes
// that follow each other this soon are handled together.
constexpr std::chrono::milliseconds kSettling{25};

// A change of one of its pods makes the operator look at all 16,384 pods of a job. After a
// reconcile that wrote nothing, its object rests this many times as long as the reconcile took: one
// object takes a tenth of a worker thread at most. No rest is longer than kMostRest, so nobody
// notices it.
constexpr int kRestTimes = 9;
constexpr std::chrono::milliseconds kMostRest{250};

// A gang of another controller needs one pass to get its Placement.
constexpr std::size_t kForeignWorkers = 2;

// A reconcile that takes longer is logged with its object, because it occupies a worker thread.
constexpr std::chrono::duration<double> kLongPass{0.5};

WorkQueue::End EndOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return WorkQueue::End::kRefused;
    case ErrorKind::kConflict:
      return WorkQueue::End::kStale;
    default:
      return WorkQueue::End::kFailed;
  }
}

Planner::Options WithAnswers(Planner::Options options, WorkQueue& jobs, WorkQueue& checks,
                             UnderWay& under_way) {
  options.under_way = &under_way;
  options.on_answer = [&jobs](const api::ObjectKey& job) { jobs.Add(job); };
  options.on_workload_answer = [&checks](const api::ObjectKey& workload) { checks.Add(workload); };
  return options;
}

// All parts of one operator have the same executor.
Operator::Options WithExecutor(Operator::Options options) {
  options.jobs.executor = options.planner.executor = options.fabrics.executor =
      options.learned.executor = options.step_metrics.executor = options.executor;
  return options;
}

JobController::Options WithKueue(JobController::Options options,
                                 std::function<bool()> kueue_synced) {
  options.kueue_synced = std::move(kueue_synced);
  return options;
}

JobController::Options WithGangs(JobController::Options options, GangFiles& files,
                                 PodGroups& pod_groups, PodEvents& pod_events) {
  options.pod_groups = &pod_groups;
  options.pod_events = &pod_events;
  options.gang_of = [&files](const api::TrainingJob& job, const api::Placement& placement) {
    return files.Of(job, placement);
  };
  options.delete_files = [&files](const api::TrainingJob& job, const api::Placement* placement) {
    return files.Delete(job, placement);
  };
  return options;
}

}  // namespace

Operator::Operator(kube::Transport& transport, ApiWriter& writer, Recorder& recorder, Log& log,
                   Options options)
    : log_(log),
      options_(WithExecutor(std::move(options))),
      synced_changed_(options_.executor->NewCondition()),
      under_way_(*options_.executor),
      cluster_(transport, {.space = options_.space,
                           .kueue = options_.kueue,
                           .accelerator_resources = options_.accelerator_resources,
                           .now = options_.jobs.now,
                           .seed = options_.seed,
                           .hooks = HooksOfWatch(),
                           .executor = options_.executor}),
      queue_({.executor = options_.executor}),
      gangs_({.executor = options_.executor}),
      foreign_({.executor = options_.executor}),
      checks_({.executor = options_.executor}),
      groups_({.executor = options_.executor}),
      decisions_(std::make_shared<PlacementLog>(PlacementLog::kKept, *options_.executor)),
      figures_(cluster_.store(), cluster_.fabrics(), options_.figures),
      pod_groups_(cluster_.store(), writer, recorder,
                  {.enabled = options_.pod_groups, .now = options_.jobs.now}),
      pod_events_(writer, log, options_.jobs.now),
      releases_(cluster_.store(), writer, log, options_.jobs.now),
      files_(cluster_.store(), cluster_.fabrics(), writer, pod_groups_, options_.verify_image),
      fabrics_(cluster_.store(), cluster_.fabrics(), writer, recorder, log, options_.fabrics),
      learned_(cluster_.store(), writer, recorder, log, options_.learned),
      step_metrics_(cluster_.store(), writer, recorder, log, options_.step_metrics),
      planner_(cluster_.store(), cluster_.fabrics(), writer, log,
               WithAnswers(options_.planner, queue_, checks_, under_way_)),
      controller_(
          cluster_.store(), writer, planner_, recorder, log,
          WithGangs(WithKueue(options_.jobs, KueueSynced()), files_, pod_groups_, pod_events_)),
      placements_(
          cluster_.store(), writer, recorder, log,
          {options_.jobs.life, options_.jobs.now, options_.jobs.writes_at_once, options_.executor}),
      foreigners_(cluster_.store(), cluster_.fabrics(), writer, recorder, log,
                  {.writes_at_once = options_.jobs.writes_at_once, .executor = options_.executor}),
      workloads_(cluster_.store(), cluster_.fabrics(), writer, planner_, log,
                 {.check = options_.check,
                  .node_loss_seconds = options_.jobs.life.node_loss_seconds,
                  .now = options_.jobs.now,
                  .synced = [this] { return cluster_.KueueSynced(); },
                  .counters = options_.counters}) {
  cluster_.store().SetHooks(HooksOfStore());
}

Operator::~Operator() { Stop(); }

// Every change that affects a figure calls one of these hooks.
watch::StoreHooks Operator::HooksOfStore() {
  watch::StoreHooks hooks;
  hooks.on_job = [this](const api::ObjectKey& job) {
    figures_.OnChange();
    learned_.OnChange();
    step_metrics_.OnChange();
    queue_.AddAfter(job, kSettling);
  };
  hooks.on_placement = [this](const api::ObjectKey& placement) {
    if (Serves(placement)) gangs_.AddAfter(placement, kSettling);
  };
  hooks.on_gang = [this](const api::ObjectKey& gang) {
    if (Serves(gang)) foreign_.AddAfter(gang, kSettling);
  };
  hooks.on_workload = [this](const api::ObjectKey& key) {
    if (options_.kueue) checks_.Add(key);
  };
  hooks.on_decision = [this](const api::ObjectKey& key) {
    auto placement = cluster_.store().At<api::Placement>(key);
    if (placement) {
      decisions_->Put(std::move(placement));
    } else {
      decisions_->Remove(key);
    }
  };
  hooks.on_pod_group = [this](const api::ObjectKey& group) {
    if (Serves(group)) groups_.Add(group);
  };
  hooks.on_capacity = [this] {
    figures_.OnChange();
    planner_.OnCapacity();
  };
  hooks.on_fabric = [this] { fabrics_.OnChange(); };
  return hooks;
}

std::function<bool()> Operator::KueueSynced() const {
  if (!options_.kueue) return {};
  return [this] { return cluster_.KueueSynced(); };
}

bool Operator::Serves(const api::ObjectKey& key) const {
  return options_.space.empty() || key.space == options_.space;
}

watch::WatchHooks Operator::HooksOfWatch() {
  watch::WatchHooks hooks;
  hooks.on_listed = [this](const std::string& resource, const std::string& version) {
    log_.Debug("listed", {{"resource", resource}, {"version", version}});
  };
  hooks.on_failure = [this](const std::string& resource, const std::string& what) {
    log_.Warning("watch failed", {{"resource", resource}, {"reason", what}});
  };
  hooks.on_answered = [this] {
    const std::lock_guard lock(synced_mutex_);
    synced_changed_->NotifyAll();
  };
  hooks.on_restart = [this](const std::string& resource) {
    Count(metrics::Id::kWatchRestarts, resource);
  };
  hooks.on_unreadable = [this](const std::string& resource, const api::ObjectKey& key,
                               const std::string& why) {
    log_.Warning("object cannot be read",
                 {{"resource", resource}, {"object", api::Show(key)}, {"reason", why}});
    Count(metrics::Id::kUnreadableObjects, resource);
  };
  hooks.on_lag = [this](Seconds lag) {
    if (options_.counters) options_.counters->Observe(metrics::Id::kEventLag, {}, lag.count());
  };
  return hooks;
}

void Operator::Count(metrics::Id id, const std::string& label) {
  if (options_.counters) options_.counters->Add(id, {label});
}

void Operator::Measure(metrics::Samples& samples) const {
  using metrics::Id;
  samples.Add(Id::kSynced, {}, cluster_.Synced() ? 1 : 0);
  samples.Add(Id::kQueueDepth, {"trainingjob"}, static_cast<double>(queue_.depth()));
  samples.Add(Id::kQueueDepth, {"placement"}, static_cast<double>(gangs_.depth()));
  samples.Add(Id::kQueueDepth, {"gang"}, static_cast<double>(foreign_.depth()));
  samples.Add(Id::kQueueDepth, {"workload"}, static_cast<double>(checks_.depth()));
  samples.Add(Id::kQueueDepth, {"podgroup"}, static_cast<double>(groups_.depth()));
  for (const auto& [resource, silence] : cluster_.Silences()) {
    samples.Add(Id::kWatchSilence, {resource}, static_cast<double>(silence.count()) / 1e3);
  }
}

void Operator::Start() {
  cluster_.Start();
  thread_ = options_.executor->Start([this] {
    if (!AwaitSynced()) return;
    log_.Info("synced");
    if (!options_.read_only) Work();
  });
}

// False after Stop.
bool Operator::AwaitSynced() {
  std::unique_lock lock(synced_mutex_);
  while (!stopped_ && !cluster_.Synced()) synced_changed_->Wait(lock);
  return !stopped_;
}

void Operator::Work() {
  const Loop jobs{"trainingjob", queue_,
                  [this](const api::ObjectKey& key) { return controller_.Reconcile(key); }};
  const Loop gangs{"placement", gangs_,
                   [this](const api::ObjectKey& key) { return placements_.Reconcile(key); }};
  const Loop foreign{"gang", foreign_,
                     [this](const api::ObjectKey& key) { return foreigners_.Reconcile(key); }};
  const Loop checks{"workload", checks_,
                    [this](const api::ObjectKey& key) { return workloads_.Reconcile(key); }};
  const Loop groups{"podgroup", groups_,
                    [this](const api::ObjectKey& key) { return releases_.Reconcile(key); }};
  if (!options_.learned.space.empty())
    learned_.Read();  // so that the first plans use what was learned
  std::vector<std::unique_ptr<run::Thread>> workers;
  const auto start = [&](std::function<void()> work) {
    workers.push_back(options_.executor->Start(std::move(work)));
  };
  for (std::size_t i = 0; i < options_.workers; ++i) {
    start([&] { Reconcile(jobs); });
    start([&] { Reconcile(gangs); });
    if (options_.kueue) start([&] { Reconcile(checks); });
  }
  for (std::size_t i = 0; i < kForeignWorkers; ++i) {
    start([&] { Reconcile(foreign); });
  }
  start([&] { Reconcile(groups); });
  start([this] { fabrics_.Run(); });
  start([this] { learned_.Run(); });
  start([this] { step_metrics_.Run(); });
  if (options_.look_again.count() > 0) start([this] { LookAgain(); });
  planner_.Run();
  for (const auto& worker : workers) worker->Join();
}

void Operator::LookAgain() {
  SplitMix64 chance(options_.seed);
  const auto most = static_cast<std::uint64_t>(options_.look_again.count());
  const auto into = [&](WorkQueue& queue) {
    return [&](const api::ObjectKey& key) {
      if (!key.space.empty() && !Serves(key)) return;
      queue.AddAfter(key, run::Millis(chance.Below(most)));
    };
  };
  watch::StoreHooks hooks;
  hooks.on_job = into(queue_);
  hooks.on_placement = into(gangs_);
  hooks.on_gang = into(foreign_);
  if (options_.kueue) hooks.on_workload = into(checks_);
  hooks.on_pod_group = into(groups_);
  hooks.on_capacity = [this] { planner_.OnCapacity(); };
  hooks.on_fabric = [this] { fabrics_.OnChange(); };
  const auto stopped = [this] { return stopped_.load(); };
  std::unique_lock lock(synced_mutex_);
  while (!synced_changed_->WaitFor(lock, options_.look_again, stopped)) {
    lock.unlock();
    cluster_.store().TellAll(hooks);
    lock.lock();
  }
}

void Operator::Stop() {
  {
    const std::lock_guard lock(synced_mutex_);
    if (stopped_.exchange(true)) return;
    synced_changed_->NotifyAll();
  }
  queue_.Close();
  gangs_.Close();
  foreign_.Close();
  checks_.Close();
  groups_.Close();
  planner_.Stop();
  fabrics_.Stop();
  learned_.Stop();
  step_metrics_.Stop();
  cluster_.Cancel();
  if (thread_) thread_->Join();
  cluster_.Stop();
}

void Operator::Reconcile(const Loop& loop) {
  while (const auto key = loop.queue.Take()) {
    const run::Instant start = options_.executor->Now();
    const Result<Outcome> outcome = TryPass(loop, *key);
    const WorkQueue::Duration took = options_.executor->Now() - start;
    if (options_.counters != nullptr) {
      options_.counters->Observe(metrics::Id::kReconcileSeconds, {loop.name},
                                 Seconds(took).count());
    }
    if (took > kLongPass) {
      log_.Info("long reconcile", {{"controller", loop.name},
                                   {"object", api::Show(*key)},
                                   {"seconds", std::to_string(Seconds(took).count())}});
    }
    Settle(loop, *key, outcome, took);
  }
}

void Operator::Hang() {
  std::unique_lock lock(synced_mutex_);
  while (!stopped_) synced_changed_->Wait(lock);
}

// One unusual object must not end the process.
Result<Outcome> Operator::TryPass(const Loop& loop, const api::ObjectKey& key) {
  const UnderWay::Mark mark(under_way_, loop.name);
  try {
    Result<Outcome> outcome = loop.pass(key);
    if (Seeded(Bug::kHangs) && !outcome) Hang();
    return outcome;
  } catch (const std::exception& bug) {
    return Error{ErrorKind::kInvalid, bug.what()};
  }
}

// Turns outcomes into queue operations; no other code does this.
void Operator::Settle(const Loop& loop, const api::ObjectKey& key, const Result<Outcome>& outcome,
                      WorkQueue::Duration took) {
  WorkQueue& queue = loop.queue;
  if (!outcome) {
    const ErrorKind kind = outcome.error().kind;
    if (kind != ErrorKind::kConflict && kind != ErrorKind::kNotFound) {
      log_.Warning("reconcile failed", {{"controller", loop.name},
                                        {"object", api::Show(key)},
                                        {"error", outcome.error().message}});
      Count(metrics::Id::kReconcileFailures, loop.name);
    }
    return queue.Done(key, EndOf(kind));
  }
  const auto rest = std::min<WorkQueue::Duration>(took * kRestTimes, kMostRest);
  if (outcome->again) return queue.Done(key, WorkQueue::End::kNextStep);
  queue.Done(key, WorkQueue::End::kWell, outcome->waits ? rest : WorkQueue::Duration::zero());
  if (outcome->seconds && !Seeded(Bug::kRequeueForgotten)) {
    // What waits is never looked at without a pause, whatever it waits for.
    const std::int64_t least = outcome->waits ? 1 : 0;
    queue.AddAfter(key, std::chrono::seconds(std::max(least, *outcome->seconds)));
  }
}

}  // namespace weft::controllers
