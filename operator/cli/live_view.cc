#include "operator/cli/live_view.h"

#include <chrono>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "operator/base/timestamp.h"
#include "operator/controllers/kube_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/operator.h"
#include "operator/kube/client.h"
#include "operator/kube/http_transport.h"

namespace weft::cli {
namespace {

constexpr std::size_t kTransportThreads = 4;
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kBetweenLooks{20};

UnixSeconds Now() { return static_cast<UnixSeconds>(std::time(nullptr)); }

class NoRecorder final : public controllers::Recorder {
 public:
  void Record(const controllers::Happening&) override {}
};

// The operator in read-only mode.
class View final : public LiveView {
 public:
  explicit View(kube::Config config)
      : transport_(kube::MakeHttpTransport(std::move(config), "weft/" WEFT_VERSION)),
        client_(*transport_, timer_, {}),
        writer_(client_, [] { return false; }),
        log_({.least = controllers::LogLevel::kWarning,
              .json = false,
              .write = [this](const std::string& line) { Note(line); },
              .time = [] { return FormatTime(Now()); }}),
        operator_(*transport_, writer_, recorder_, log_, OptionsOf()) {
    operator_.Start();
  }
  ~View() override { timer_.End(); }

  Status AwaitSync() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!operator_.Synced()) {
      if (std::chrono::steady_clock::now() > end) {
        const std::lock_guard lock(mutex_);
        return Error{ErrorKind::kTransient, "the cluster cannot be watched: " + trouble_};
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
    return {};
  }

  api::Inputs Look() override { return operator_.Look().inputs; }
  decide::Cluster LookAtCluster() override { return operator_.LookAtCluster(); }

 private:
  static controllers::Operator::Options OptionsOf() {
    controllers::Operator::Options options;
    options.read_only = true;
    options.jobs.now = options.planner.now = options.fabrics.now = options.figures.now = Now;
    return options;
  }

  // Remembers the last failure. Watches retry by themselves; it is reported only if they never
  // succeed.
  void Note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    trouble_ = line.substr(0, line.find('\n'));
  }

  std::mutex mutex_;
  std::string trouble_ = "no answer";
  std::unique_ptr<kube::Transport> transport_;
  kube::SystemTimer timer_;
  kube::Client client_;
  controllers::KubeWriter writer_;
  NoRecorder recorder_;
  controllers::Log log_;
  controllers::Operator operator_;
};

}  // namespace

Result<std::shared_ptr<LiveView>> OpenLiveView(const kube::ConfigChoice& choice) {
  Result<kube::Config> config = kube::LoadConfig(choice);
  if (!config) return config.error();
  kube::UseThreads(kTransportThreads);
  auto view = std::make_shared<View>(*std::move(config));
  if (const Status synced = view->AwaitSync(); !synced) return synced.error();
  return std::shared_ptr<LiveView>(std::move(view));
}

}  // namespace weft::cli
