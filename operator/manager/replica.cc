#include "operator/manager/replica.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "operator/api/meta.h"
#include "operator/base/seeded_bug.h"

namespace weft::manager {
namespace {

// After Stop begins, no new write starts, and writes in progress are aborted after kLastWrites, so
// that the Lease is released within three seconds.
constexpr kube::Millis kLastWrites{1'000};
constexpr kube::Millis kBreakingOff{250};  // most time that aborting takes
// After so long without an answer from the API server, the cache may be out of date.
constexpr kube::Millis kStale{60'000};
// A reconcile writes for a second (controllers/parallel.h) and a pass of the planner takes seconds
// on the largest clusters, plus writes that wait for an answer; but the lead ends where the API
// server has not answered for 15 s.
constexpr std::chrono::minutes kStuck{10};
// A machine's clock that is further from the API server's is worth a warning.
constexpr std::int64_t kClocksDifferSeconds = 10;

// Records what happens to objects of our kinds: as events in the API server and, for debugging, in
// the log.
class KubeRecorder final : public controllers::Recorder {
 public:
  KubeRecorder(kube::EventRecorder& events, controllers::Log& log) : events_(events), log_(log) {}
  void Record(const controllers::Happening& happening) override {
    const api::ObjectMeta& about = *happening.about;
    log_.Debug("event", {{"about", api::Show(about.key)},
                         {"reason", std::string(happening.reason)},
                         {"note", happening.note}});
    const std::string ours = std::string(api::kGroup) + "/" + api::kVersion;
    const std::string_view version = happening.api_version;
    events_.Record({.api_version = version.empty() ? ours : std::string(version),
                    .kind = std::string(happening.kind),
                    .key = about.key,
                    .uid = about.uid,
                    .warning = happening.warning,
                    .reason = std::string(happening.reason),
                    .action = std::string(happening.action),
                    .note = happening.note});
  }

 private:
  kube::EventRecorder& events_;
  controllers::Log& log_;
};

}  // namespace

Replica::Replica(kube::Transport& lease_transport, kube::Transport& transport,
                 kube::Transport* prometheus, controllers::Log& log, Options options)
    : options_(std::move(options)),
      lease_transport_(lease_transport),
      transport_(transport),
      prometheus_(prometheus),
      log_(log),
      clock_(options_.clock ? options_.clock
                            : std::make_shared<kube::ServerClock>(*options_.executor)),
      timer_(*options_.executor),
      client_(transport_, timer_, ClientOptions()),
      plain_writer_(client_, [this] { return MayWrite(); }),
      writer_(plain_writer_, counters_, *options_.executor),
      events_(transport_, EventOptions()),
      recorder_(std::make_unique<KubeRecorder>(events_, log)) {}

void Replica::Start() {
  if (!options_.flags.leader_elect) return SetLeads(true);
  keeper_ = std::make_unique<kube::LeaseKeeper>(lease_transport_, LeaseOptions());
  keeper_->Start();
}

void Replica::SetLeads(bool leads) {
  if (leads && keeper_) clock_->Keep();
  leads_ = leads;
  if (options_.on_leads) options_.on_leads();
}

bool Replica::Poll() {
  if (led_) return leads_;
  if (!leads_) return true;
  log_.Info("leading");
  if (const auto ahead = clock_->MachineIsAhead(); std::abs(ahead) > kClocksDifferSeconds) {
    log_.Warning("clock", {{"reason", "this machine's clock is " + std::to_string(std::abs(ahead)) +
                                          (ahead > 0 ? " s ahead of" : " s behind") +
                                          " the API server's, whose time counts"}});
  }
  led_ = true;
  events_.Start();
  work_ =
      std::make_shared<controllers::Operator>(transport_, writer_, *recorder_, log_, WorkOptions());
  work_->Start();
  Show(work_);
  return true;
}

// A plan may still be computed after the Lease is lost; it then cannot write.
void Replica::Stop() {
  run::Executor& executor = *options_.executor;
  stops_writing_ = executor.Now() + kLastWrites;
  stopping_ = true;
  Show(nullptr);
  timer_.End();
  std::mutex mutex;
  bool stopped = false;
  const std::unique_ptr<run::Condition> changed = executor.NewCondition();
  const std::unique_ptr<run::Thread> stops = executor.Start([&] {
    if (work_) work_->Stop();
    work_.reset();
    const std::lock_guard lock(mutex);
    stopped = true;
    changed->NotifyAll();
  });
  {
    std::unique_lock lock(mutex);
    changed->WaitFor(lock, kLastWrites + kBreakingOff, [&] { return stopped; });
  }
  if (led_) events_.Stop();  // no write after this, so the Lease may be released
  if (keeper_) keeper_->Stop();
  stops->Join();
}

std::optional<std::string> Replica::NotReady() const {
  if (stopping_) return std::nullopt;
  const auto work = Working();
  if (leads_ && !(work && work->cluster().Synced())) return "reading the cluster";
  if (work && work->cluster().Staleness() > kStale) return "the API server does not answer";
  return std::nullopt;
}

std::optional<std::string> Replica::Stuck() const {
  const auto work = Working();
  const auto longest = work ? work->under_way().Longest() : std::nullopt;
  if (!longest || longest->time < kStuck) return std::nullopt;
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(longest->time).count();
  return std::string(longest->what) + " has worked on one thing for " + std::to_string(minutes) +
         " min";
}

void Replica::Show(std::shared_ptr<controllers::Operator> work) {
  const std::lock_guard lock(shown_mutex_);
  shown_ = std::move(work);
}

std::shared_ptr<controllers::Operator> Replica::Working() const {
  const std::lock_guard lock(shown_mutex_);
  return shown_;
}

// Whether a new write may begin; client_ aborts writes in progress.
bool Replica::MayWrite() const { return !stopping_ && options_.executor->Now() < LeadEnds(); }

kube::Instant Replica::WritesEnd() const { return std::min(LeadEnds(), stops_writing_.load()); }

kube::Instant Replica::LeadEnds() const {
  if (options_.flags.read_only) return kube::Instant::min();
  if (Seeded(Bug::kWritesWithoutLead)) return kube::Instant::max();
  if (Seeded(Bug::kFrozenWrites) && keeper_) {
    return leads_ ? kube::Instant::max() : kube::Instant::min();
  }
  if (keeper_) return keeper_->leads_until();
  return leads_ ? kube::Instant::max() : kube::Instant::min();
}

kube::LeaseKeeper::Options Replica::LeaseOptions() {
  kube::LeaseKeeper::Options options;
  options.space = options_.own_space;
  // One that reads must not keep the operator of its namespace from leading.
  options.name = options_.flags.read_only ? "weft-operator-reader" : "weft-operator";
  options.identity = options_.identity;
  options.seed = options_.chance();
  options.hooks.on_started = [this] { SetLeads(true); };
  options.hooks.on_stopped = [this] { SetLeads(Seeded(Bug::kWritesWithoutLead)); };
  options.hooks.on_failure = [this](const std::string& what) {
    log_.Warning("lease", {{"reason", what}});
  };
  options.executor = options_.executor;
  options.timer = std::make_shared<kube::SystemTimer>(*options_.executor);
  return options;
}

kube::Client::Options Replica::ClientOptions() {
  return {.field_manager = "weft-operator",
          .requests_per_second = options_.flags.requests_per_second,
          .burst = static_cast<int>(2 * options_.flags.requests_per_second),
          .seed = options_.chance(),
          .until = [this] { return WritesEnd(); }};
}

kube::EventRecorder::Options Replica::EventOptions() {
  kube::EventRecorder::Options options;
  options.series.instance = options_.identity;
  options.series.seed = options_.chance();
  options.on_failure = [this](const std::string& what) {
    counters_.Add(metrics::Id::kEventsDropped);
    log_.Warning("event dropped", {{"reason", what}});
  };
  options.until = [this] { return LeadEnds(); };
  options.executor = options_.executor;
  options.timer = std::make_shared<kube::SystemTimer>(*options_.executor);
  return options;
}

controllers::Operator::Options Replica::WorkOptions() {
  const OperatorFlags& flags = options_.flags;
  run::Executor& executor = *options_.executor;
  controllers::Operator::Options options;
  const auto now = [clock = clock_] { return clock->Seconds(); };
  options.space = flags.space;
  options.jobs.life.bind_deadline_seconds = flags.bind_deadline_seconds;
  options.jobs.life.node_loss_seconds = flags.node_loss_seconds;
  options.jobs.life.node_news_seconds = flags.node_news_seconds;
  options.jobs.now = now;
  options.jobs.writes_at_once = flags.writes_at_once;
  options.planner.now = now;
  options.planner.space = flags.space;
  options.planner.deciding = options_.deciding;
  options.planner.version = options_.version;
  options.fabrics.now = now;
  options.counters = options.jobs.counters = options.planner.counters = &counters_;
  options.learned.now = now;
  options.learned.space = options_.own_space;
  options.step_metrics.now = now;
  options.step_metrics.prometheus = prometheus_;
  options.step_metrics.counters = &counters_;
  options.figures.now = now;
  options.figures.deciding = options_.deciding;
  options.figures.version = options_.version;
  options.figures.seconds = [&executor] {
    return std::chrono::duration<double>(executor.Now().time_since_epoch()).count();
  };
  options.figures.audit = flags.read_only;
  options.planner.reserve_seconds = flags.reserve_after_seconds;
  options.kueue = flags.kueue;
  options.check.hold_seconds = flags.kueue_hold_seconds;
  options.check.version = options_.version;
  options.planner.prices = options_.prices ? &*options_.prices : nullptr;
  options.accelerator_resources = AcceleratorResourcesOf(flags);
  options.verify_image = flags.verify_image;
  options.pod_groups = flags.pod_groups;
  options.jobs.life.verify_image = !flags.verify_image.empty();
  options.read_only = flags.read_only;
  options.workers = flags.workers;
  options.look_again = options_.look_again;
  options.seed = options_.chance();
  options.executor = options_.executor;
  return options;
}

}  // namespace weft::manager
