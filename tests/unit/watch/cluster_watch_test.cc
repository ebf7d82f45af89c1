#include "operator/watch/cluster_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <string>
#include <thread>

#include "tests/support/scripted_cluster.h"

namespace weft::watch {
namespace {

constexpr const char* kNode = R"({"kind":"Node","metadata":{"name":"n1","resourceVersion":"3"}})";
constexpr const char* kFabric =
    R"({"kind":"Fabric","metadata":{"name":"f1","resourceVersion":"4"},"spec":{"levels":7}})";

TEST(ClusterWatchTest, KnowsTheClusterOnceEveryKindIsListed) {
  testing::ScriptedCluster cluster({{"nodes", kNode}, {"fabrics", kFabric}});
  std::promise<std::string> unreadable;
  std::atomic<int> listed = 0;
  std::promise<void> all;
  ClusterWatch::Options options;
  options.now = [] { return UnixSeconds{1'000}; };
  options.hooks.on_unreadable = [&](const std::string& resource, const api::ObjectKey& key,
                                    const std::string& why) {
    unreadable.set_value(resource + ": " + api::Show(key) + ": " + why);
  };
  options.hooks.on_listed = [&](const std::string&, const std::string& version) {
    EXPECT_EQ(version, "9");
    if (++listed == 17) all.set_value();
  };
  ClusterWatch watch(cluster, options);
  EXPECT_FALSE(watch.Synced());
  EXPECT_EQ(watch.Silences().size(), 17U);
  watch.Start();
  all.get_future().wait();
  EXPECT_EQ(unreadable.get_future().get().substr(0, 13), "fabrics: f1: ");
  const cluster::Cluster seen = watch.SnapshotCluster();
  ASSERT_EQ(seen.inputs->nodes.size(), 1U);
  EXPECT_EQ(seen.inputs->nodes[0].meta.key.name, "n1");
  watch.Stop();
}

// Kueue is not installed before the test says so.
class LateKueue final : public kube::Transport {
 public:
  std::atomic<bool> installed{false};

  Result<kube::Response> Send(const kube::Request& request) override { return all_.Send(request); }
  Result<kube::Response> Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                const kube::Cancel& cancel) override {
    if (!installed && request.path.find("kueue.x-k8s.io") != std::string::npos) {
      return kube::Response{404, std::nullopt, ""};
    }
    return all_.Stream(request, sink, cancel);
  }

 private:
  testing::ScriptedCluster all_{
      {{"workloads", R"({"metadata":{"name":"w","namespace":"ns","resourceVersion":"3"}})"}}};
};

TEST(ClusterWatchTest, KueueMayBeInstalledLater) {
  LateKueue cluster;
  std::counting_semaphore<> answered(0);
  ClusterWatch::Options options;
  options.kueue = true;
  options.now = [] { return UnixSeconds{1'000}; };
  options.hooks.on_failure = [](const std::string& resource, const std::string& what) {
    ADD_FAILURE() << resource << ": " << what;
  };
  options.hooks.on_answered = [&] { answered.release(); };
  ClusterWatch watch(cluster, options);
  watch.Start();
  while (!watch.Synced() || !watch.KueueAnswered()) answered.acquire();
  EXPECT_FALSE(watch.KueueSynced());
  cluster.installed = true;
  while (!watch.KueueSynced()) answered.acquire();
  EXPECT_TRUE(watch.store().ObjectsOfWorkload({"ns", "w"}));
  watch.Stop();
}

// An older API server, or rights of an earlier release: ResourceSlices and DeviceClasses are not
// served, claims and their templates are forbidden.
TEST(ClusterWatchTest, DevicesNeedNotBeServed) {
  class WithoutDevices final : public kube::Transport {
   public:
    Result<kube::Response> Send(const kube::Request& request) override {
      return all_.Send(request);
    }
    Result<kube::Response> Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                  const kube::Cancel& cancel) override {
      if (request.path.find("resource.k8s.io") == std::string::npos) {
        return all_.Stream(request, sink, cancel);
      }
      const bool claims = request.path.find("resourceclaim") != std::string::npos;
      return kube::Response{claims ? 403 : 404, std::nullopt, ""};
    }

   private:
    testing::ScriptedCluster all_{{{"nodes", kNode}}};
  } cluster;
  std::mutex mutex;
  std::set<std::string> failed;
  ClusterWatch::Options options;
  options.now = [] { return UnixSeconds{1'000}; };
  options.hooks.on_failure = [&](const std::string& resource, const std::string&) {
    const std::lock_guard lock(mutex);
    failed.insert(resource);
  };
  ClusterWatch watch(cluster, options);
  watch.Start();
  while (!watch.Synced()) std::this_thread::yield();
  EXPECT_EQ(watch.SnapshotCluster().inputs->nodes.size(), 1U);
  watch.Stop();
  EXPECT_EQ(failed, (std::set<std::string>{"resourceclaims", "resourceclaimtemplates"}));
}

TEST(ClusterWatchTest, AFailureNamesItsResource) {
  class Silent final : public kube::Transport {
    Result<kube::Response> Send(const kube::Request&) override { return Refused(); }
    Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                  const kube::Cancel&) override {
      return Refused();
    }
    static Error Refused() { return {ErrorKind::kTransient, "connection refused"}; }
  } silent;
  std::mutex mutex;
  std::set<std::string> failed;
  std::promise<void> all;
  ClusterWatch::Options options;
  options.now = [] { return UnixSeconds{1'000}; };
  options.hooks.on_failure = [&](const std::string& resource, const std::string& what) {
    EXPECT_NE(what.find("connection refused"), std::string::npos);
    const std::lock_guard lock(mutex);
    if (failed.insert(resource).second && failed.size() == 16) all.set_value();
  };
  ClusterWatch watch(silent, options);
  watch.Start();
  all.get_future().wait();
  EXPECT_TRUE(failed.contains("trainingjobs"));
  EXPECT_FALSE(watch.Synced());
}

}  // namespace
}  // namespace weft::watch
