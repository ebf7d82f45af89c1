#include "operator/manager/run_operator.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <random>

#include "operator/controllers/log.h"
#include "operator/kube/config.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "operator/manager/crash_guard.h"
#include "operator/manager/log_sink.h"
#include "operator/manager/operator_servers.h"
#include "operator/manager/replica.h"
#include "operator/program/price_file.h"
#include "operator/promql/prometheus.h"

namespace weft::manager {
namespace {

// Threads of cpprestsdk for watches and writes; more would not help.
constexpr std::size_t kTransportThreads = 4;
// For the Lease at once: its release may follow a renewal that hangs.
constexpr std::size_t kLeaseRequests = 2;
// How soon a signal, or a Lease won or lost, is seen.
constexpr std::chrono::milliseconds kBetweenPolls{100};

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "weft-operator";
  return name;
}

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
        log_(log),
        own_space_(OwnSpace(flags, config)),
        lease_transport_(
            kube::MakeHttpTransport(config, "weft-operator/" WEFT_VERSION, kLeaseRequests,
                                    [clock = clock_](UnixSeconds date) { clock->Hear(date); })),
        transport_(kube::MakeHttpTransport(std::move(config), "weft-operator/" WEFT_VERSION,
                                           flags.writes_at_once)),
        replica_(*lease_transport_, *transport_, prometheus_.get(), log,
                 ReplicaOptions(std::move(prices))) {}

  int Run(Signals& signals) {
    replica_.Start();
    OperatorServers servers(*transport_, replica_.timer(), ServerOptions());
    if (const Status opened = servers.Open(); !opened) {
      log_.Error("cannot serve", {{"reason", opened.error().message}});
      return 2;
    }
    bool lost = false;
    while (!lost && !signals.Wait(kBetweenPolls)) lost = !replica_.Poll();
    log_.Info(lost ? "lost the lead" : "stopping");
    replica_.Stop();
    return lost ? 1 : 0;
  }

 private:
  static std::string OwnSpace(const OperatorFlags& flags, const kube::Config& config) {
    if (!flags.lease_namespace.empty()) return flags.lease_namespace;
    return config.space.empty() ? "weft-system" : config.space;
  }

  Replica::Options ReplicaOptions(std::optional<outlook::Prices> prices) const {
    Replica::Options options;
    options.flags = flags_;
    options.prices = std::move(prices);
    options.own_space = own_space_;
    options.identity = flags_.identity.empty()
                           ? HostName() + "_" + std::to_string(std::random_device{}())
                           : flags_.identity;
    options.version = WEFT_VERSION;
    options.deciding = NameWorkload;
    options.chance = [] { return std::random_device{}(); };
    options.clock = clock_;
    return options;
  }

  OperatorServers::Options ServerOptions() {
    OperatorServers::Options options;
    options.flags = &flags_;
    options.version = WEFT_VERSION;
    options.host_name = HostName();
    options.own_space = own_space_;
    options.counters = &replica_.counters();
    options.leads = [this] { return replica_.leads(); };
    const auto health = [](const std::optional<std::string>& reason) {
      return reason ? http::Health{false, *reason} : http::Health{};
    };
    options.live = [this, health] { return health(replica_.Stuck()); };
    options.ready = [this, health] { return health(replica_.NotReady()); };
    options.log = &log_;
    options.epoch = std::to_string(std::random_device{}());
    options.operator_now = [this] { return replica_.Working(); };
    return options;
  }

  const OperatorFlags& flags_;
  const std::unique_ptr<kube::Transport> prometheus_;  // null: no --prometheus
  controllers::Log& log_;
  const std::string own_space_;
  const std::shared_ptr<kube::ServerClock> clock_ =
      std::make_shared<kube::ServerClock>(run::SystemExecutor());
  std::unique_ptr<kube::Transport> lease_transport_;
  std::unique_ptr<kube::Transport> transport_;
  Replica replica_;
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
