#include "operator/cli/live_view.h"

#include <chrono>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "operator/kube/http_transport.h"
#include "operator/watch/cluster_watch.h"

namespace weft::cli {
namespace {

constexpr std::size_t kWatcherThreads = 4;
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kBetweenPolls{20};

class View final : public LiveView {
 public:
  View(kube::Config config, Kinds kinds)
      : transport_(kube::MakeHttpTransport(std::move(config), "weft/" WEFT_VERSION)),
        cluster_(*transport_, OptionsOf(kinds)) {
    cluster_.Start();
  }
  ~View() override { cluster_.Stop(); }

  Status AwaitSync() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!cluster_.Synced() || !cluster_.KueueAnswered()) {
      if (std::chrono::steady_clock::now() > end) {
        const std::lock_guard lock(mutex_);
        return Error{ErrorKind::kTransient, "the cluster cannot be watched: " + trouble_};
      }
      std::this_thread::sleep_for(kBetweenPolls);
    }
    return {};
  }

  api::Inputs TakeSnapshot() override {
    api::Inputs inputs = cluster_.TakeSnapshot().inputs;
    static_cast<api::KueueInputs&>(inputs) = cluster_.store().SnapshotKueue();
    return inputs;
  }
  cluster::Cluster SnapshotCluster() override { return cluster_.SnapshotCluster(); }

 private:
  watch::ClusterWatch::Options OptionsOf(Kinds kinds) {
    watch::ClusterWatch::Options options;
    options.kueue = kinds == Kinds::kQueues;
    options.now = [] { return static_cast<UnixSeconds>(std::time(nullptr)); };
    options.hooks.on_failure = [this](const std::string& resource, const std::string& what) {
      const std::lock_guard lock(mutex_);
      trouble_ = resource + ": " + what;
    };
    return options;
  }

  std::mutex mutex_;
  // The last failure. Watches retry by themselves; it is reported only if they never succeed.
  std::string trouble_ = "no answer";
  std::unique_ptr<kube::Transport> transport_;
  watch::ClusterWatch cluster_;
};

}  // namespace

Result<std::shared_ptr<LiveView>> OpenLiveView(const kube::ConfigChoice& choice, Kinds kinds) {
  Result<kube::Config> config = kube::LoadConfig(choice);
  if (!config) return config.error();
  kube::UseThreads(kWatcherThreads);
  auto view = std::make_shared<View>(*std::move(config), kinds);
  if (const Status synced = view->AwaitSync(); !synced) return synced.error();
  return std::shared_ptr<LiveView>(std::move(view));
}

}  // namespace weft::cli
