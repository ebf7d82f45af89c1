#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/kube/reflector.h"
#include "operator/kube/resource.h"
#include "operator/kube/transport.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"
#include "operator/watch/store_sink.h"
#include "operator/watch/watch_hooks.h"

namespace weft::watch {

// A copy of the cluster that follows the API server: one reflector per kind, the store that they
// fill, and the fabrics of its nodes. It writes nothing.
// Thread-safety  Start and Stop from one thread; the others from any.
class ClusterWatch {
 public:
  struct Options {
    std::string space;   // only jobs of this namespace; "": all
    bool kueue = false;  // watches the kinds of Kueue too, as soon as they are installed
    std::vector<std::string> accelerator_resources = {};  // beside those that objects name
    std::function<UnixSeconds()> now;
    std::uint64_t seed = 0;
    WatchHooks hooks;
    run::Executor* executor = &run::SystemExecutor();
  };
  // `transport` must outlive the watch.
  ClusterWatch(kube::Transport& transport, Options options);

  void Start();
  // Ends the requests under way; Stop then also ends the threads.
  void Cancel();
  void Stop();

  // Whether every kind that the API server serves has been listed completely once, without the
  // kinds of Kueue.
  bool Synced() const;
  // Whether each kind of Kueue has been listed completely once, or is not installed or forbidden.
  bool KueueAnswered() const;
  // Whether all kinds of Kueue have been listed completely once.
  bool KueueSynced() const;
  // The time since the API server last answered the watch of each resource, and the longest.
  std::vector<std::pair<std::string, kube::Millis>> Silences() const;
  kube::Millis Staleness() const;

  Store& store() { return store_; }
  FabricCache& fabrics() { return fabrics_; }
  // The cluster as it is now, with inputs in order.
  // Cost  O(nodes + pods log pods).
  Store::Snapshot TakeSnapshot() const;
  cluster::Cluster SnapshotCluster();

 private:
  template <typename T>
  void Watch(const kube::Resource& resource, manifest::Subject subject, KindInStore<T> kind,
             const std::string& labels = "");
  // The kinds of dynamic resource allocation, which older clusters do not serve.
  void WatchDevices();
  // The kinds of volumes, which the operator may do without.
  void WatchVolumes();
  void WatchKueue();
  kube::ReflectorHooks HooksOf(const std::string& resource) const;

  kube::Transport& transport_;
  const Options options_;
  Store store_;
  FabricCache fabrics_;
  std::vector<std::unique_ptr<kube::ObjectSink>> sinks_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::vector<std::string> watched_;  // plural of each reflector's kind
  std::size_t own_kinds_ = 0;         // reflectors before those of Kueue
};

}  // namespace weft::watch
