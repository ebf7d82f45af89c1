#include "operator/manager/run_operator.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "operator/base/seeded_bug.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/counting_writer.h"
#include "operator/controllers/kube_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/operator.h"
#include "operator/kube/client.h"
#include "operator/kube/config.h"
#include "operator/kube/event_recorder.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/lease_keeper.h"
#include "operator/kube/load_config.h"
#include "operator/manager/crash_guard.h"
#include "operator/manager/log_sink.h"
#include "operator/manager/operator_servers.h"
#include "operator/metrics/counters.h"
#include "operator/program/price_file.h"
#include "operator/promql/prometheus.h"

namespace weft::manager {
namespace {

// Threads of cpprestsdk for watches and writes; more would not help.
constexpr std::size_t kTransportThreads = 4;
// After SIGTERM no new write starts, and writes in progress are aborted after kLastWrites, so that
// the Lease is released within three seconds.
constexpr kube::Millis kLastWrites{1'000};
constexpr kube::Millis kBreakingOff{250};  // most time that aborting takes
// After so long without an answer from the API server, the cache may be out of date.
constexpr kube::Millis kStale{60'000};

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "weft-operator";
  return name;
}

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

// Blocks SIGTERM and SIGINT, and waits for one of them. Ignores SIGPIPE.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (int signal : {SIGTERM, SIGINT}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);  // before any thread starts
    std::signal(SIGPIPE, SIG_IGN);
  }
  // Returns true if a signal came within that time.
  bool Wait(std::chrono::milliseconds time) {
    timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
    return sigtimedwait(&set_, nullptr, &limit) > 0;
  }

 private:
  sigset_t set_;
};

class Process {
 public:
  Process(const OperatorFlags& flags, std::optional<outlook::Prices> prices, kube::Config config,
          std::unique_ptr<kube::Transport> prometheus, controllers::Log& log)
      : flags_(flags),
        prometheus_(std::move(prometheus)),
        prices_(std::move(prices)),
        log_(log),
        own_space_(config.space),
        lease_transport_(kube::MakeHttpTransport(config, "weft-operator/" WEFT_VERSION)),
        transport_(kube::MakeHttpTransport(std::move(config), "weft-operator/" WEFT_VERSION,
                                           flags.writes_at_once)),
        client_(*transport_, timer_,
                {.field_manager = "weft-operator",
                 .requests_per_second = flags.requests_per_second,
                 .burst = static_cast<int>(2 * flags.requests_per_second),
                 .seed = std::random_device{}(),
                 .until = [this] { return WritesEnd(); }}),
        plain_writer_(client_, [this] { return MayWrite(); }),
        writer_(plain_writer_, counters_),
        identity_(flags.identity.empty() ? HostName() + "_" + std::to_string(std::random_device{}())
                                         : flags.identity),
        events_(*transport_, EventOptions()),
        recorder_(events_, log) {}

  int Run(Signals& signals) {
    if (flags_.leader_elect) {
      keeper_ = std::make_unique<kube::LeaseKeeper>(*lease_transport_, LeaseOptions());
      keeper_->Start();
    } else {
      leads_ = true;
    }
    OperatorServers servers(*transport_, timer_, ServerOptions());
    if (const Status opened = servers.Open(); !opened) {
      log_.Error("cannot serve", {{"reason", opened.error().message}});
      return 2;
    }
    bool led = false;
    std::shared_ptr<controllers::Operator> work;
    while (!signals.Wait(std::chrono::milliseconds(100))) {
      if (leads_ && !work) {
        log_.Info("leading");
        led = true;
        events_.Start();
        work = std::make_shared<controllers::Operator>(*transport_, writer_, recorder_, log_,
                                                       WorkOptions());
        work->Start();
        Show(work);
      }
      if (work) synced_ = work->cluster().Synced();
      if (work) stale_ = work->cluster().Staleness() > kStale;
      if (led && !leads_) break;
    }
    const bool lost = led && !leads_;
    log_.Info(lost ? "lost the lead" : "stopping");
    Show(nullptr);
    Stop(std::move(work), led);
    return lost ? 1 : 0;
  }

 private:
  // A plan may still be computed after the Lease is lost; it then cannot write.
  void Stop(std::shared_ptr<controllers::Operator> work, bool led) {
    stops_writing_ = kube::BootClock::now() + kLastWrites;
    stopping_ = true;
    timer_.End();
    std::future<void> stopped = std::async(std::launch::async, [&work] {
      if (work) work->Stop();
      work.reset();
    });
    stopped.wait_for(kLastWrites + kBreakingOff);
    if (led) events_.Stop();  // no write after this, so the Lease may be released
    if (keeper_) keeper_->Stop();
  }

  // A standby is ready, because it could take over at once. A leader is ready when it has read all
  // objects.
  http::Health Ready() const {
    if (leads_ && !synced_) return {false, "reading the cluster"};
    if (stale_) return {false, "the API server does not answer"};
    return {};
  }

  OperatorServers::Options ServerOptions() {
    OperatorServers::Options options;
    options.flags = &flags_;
    options.version = WEFT_VERSION;
    options.host_name = HostName();
    options.own_space = OwnSpace();
    options.counters = &counters_;
    options.leads = [this] { return leads_.load(); };
    options.ready = [this] { return Ready(); };
    options.log = &log_;
    options.epoch = std::to_string(std::random_device{}());
    options.operator_now = [this] { return Shown(); };
    return options;
  }

  // Sets the operator that the servers' threads see.
  void Show(std::shared_ptr<controllers::Operator> work) {
    const std::lock_guard lock(shown_mutex_);
    shown_ = std::move(work);
  }
  std::shared_ptr<controllers::Operator> Shown() const {
    const std::lock_guard lock(shown_mutex_);
    return shown_;
  }

  std::string OwnSpace() const {
    if (!flags_.lease_namespace.empty()) return flags_.lease_namespace;
    return own_space_.empty() ? "weft-system" : own_space_;
  }

  // Whether a new write may begin; client_ aborts writes in progress.
  bool MayWrite() const { return !stopping_ && kube::BootClock::now() < LeadEnds(); }
  kube::Instant WritesEnd() const { return std::min(LeadEnds(), stops_writing_.load()); }
  kube::Instant LeadEnds() const {
    if (flags_.read_only) return kube::Instant::min();
    if (Seeded(Bug::kWritesWithoutLead)) return kube::Instant::max();
    if (keeper_) return keeper_->leads_until();
    return leads_ ? kube::Instant::max() : kube::Instant::min();
  }

  kube::LeaseKeeper::Options LeaseOptions() {
    kube::LeaseKeeper::Options options;
    options.space = OwnSpace();
    options.name = "weft-operator";
    options.identity = identity_;
    options.seed = std::random_device{}();
    options.hooks.on_started = [this] { leads_ = true; };
    options.hooks.on_stopped = [this] { leads_ = Seeded(Bug::kWritesWithoutLead); };
    options.hooks.on_failure = [this](const std::string& what) {
      log_.Warning("lease", {{"reason", what}});
    };
    return options;
  }

  kube::EventRecorder::Options EventOptions() {
    kube::EventRecorder::Options options;
    options.series.instance = identity_;
    options.series.seed = std::random_device{}();
    options.on_failure = [this](const std::string& what) {
      counters_.Add(metrics::Id::kEventsDropped);
      log_.Warning("event dropped", {{"reason", what}});
    };
    options.until = [this] { return LeadEnds(); };
    return options;
  }

  controllers::Operator::Options WorkOptions() {
    controllers::Operator::Options options;
    const auto now = [] { return static_cast<UnixSeconds>(std::time(nullptr)); };
    options.space = flags_.space;
    options.jobs.life.bind_deadline_seconds = flags_.bind_deadline_seconds;
    options.jobs.life.node_loss_seconds = flags_.node_loss_seconds;
    options.jobs.now = now;
    options.jobs.writes_at_once = flags_.writes_at_once;
    options.planner.now = now;
    options.planner.space = flags_.space;
    options.planner.deciding = NameWorkload;
    options.planner.version = WEFT_VERSION;
    options.fabrics.now = now;
    options.counters = options.jobs.counters = options.planner.counters = &counters_;
    options.learned.now = now;
    options.learned.space = OwnSpace();
    options.step_metrics.now = now;
    options.step_metrics.prometheus = prometheus_.get();
    options.step_metrics.counters = &counters_;
    options.figures.now = now;
    options.figures.deciding = NameWorkload;
    options.figures.version = WEFT_VERSION;
    options.figures.seconds = [] {
      const auto time = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration<double>(time).count();
    };
    options.figures.audit = flags_.read_only;
    options.planner.reserve_seconds = flags_.reserve_after_seconds;
    options.kueue = flags_.kueue;
    options.check.hold_seconds = flags_.kueue_hold_seconds;
    options.check.version = WEFT_VERSION;
    options.planner.prices = prices_ ? &*prices_ : nullptr;
    options.verify_image = flags_.verify_image;
    options.jobs.life.verify_image = !flags_.verify_image.empty();
    options.read_only = flags_.read_only;
    options.workers = flags_.workers;
    options.seed = std::random_device{}();
    return options;
  }

  const OperatorFlags& flags_;
  const std::unique_ptr<kube::Transport> prometheus_;  // null: no --prometheus
  const std::optional<outlook::Prices> prices_;
  controllers::Log& log_;
  const std::string own_space_;
  metrics::Counters counters_;
  // A transport of its own, so that writes that wait for the API server do not delay a renewal.
  std::unique_ptr<kube::Transport> lease_transport_;
  std::unique_ptr<kube::Transport> transport_;
  kube::SystemTimer timer_;
  kube::Client client_;
  controllers::KubeWriter plain_writer_;
  controllers::CountingWriter writer_;
  const std::string identity_;
  kube::EventRecorder events_;
  KubeRecorder recorder_;
  std::atomic<bool> leads_{false}, synced_{false}, stale_{false}, stopping_{false};
  std::atomic<kube::Instant> stops_writing_{kube::Instant::max()};
  std::unique_ptr<kube::LeaseKeeper> keeper_;
  mutable std::mutex shown_mutex_;
  std::shared_ptr<controllers::Operator> shown_;
};

// The server of --prometheus; null without one.
Result<std::unique_ptr<kube::Transport>> PrometheusOf(const OperatorFlags& flags) {
  if (flags.prometheus.empty()) return std::unique_ptr<kube::Transport>();
  Result<kube::Config> config = promql::ConfigOf(
      {flags.prometheus, flags.prometheus_token_file, flags.prometheus_certificate_authority});
  if (!config) return config.error();
  return kube::MakeHttpTransport(*std::move(config), "weft-operator/" WEFT_VERSION, 1);
}

}  // namespace

int RunOperator(const OperatorFlags& flags) {
  Signals signals;
  controllers::Log log = MakeLog(flags);
  Result<kube::Config> config = kube::LoadConfig({flags.kubeconfig, flags.context});
  if (!config) {
    log.Error("no cluster", {{"reason", config.error().message}});
    return 2;
  }
  std::optional<outlook::Prices> prices;
  if (const Status read = program::ReadPricesOf(flags.prices, {.any = true}, prices); !read) {
    log.Error("no prices", {{"reason", read.error().message}});
    return 2;
  }
  kube::UseThreads(kTransportThreads);
  Result<std::unique_ptr<kube::Transport>> prometheus = PrometheusOf(flags);
  if (!prometheus) {
    log.Error("no Prometheus", {{"reason", prometheus.error().message}});
    return 2;
  }
  log.Info("starting",
           {{"version", WEFT_VERSION}, {"server", config->server}, {"settings", ShowFlags(flags)}});
  return Process(flags, std::move(prices), *std::move(config), *std::move(prometheus), log)
      .Run(signals);
}

}  // namespace weft::manager
