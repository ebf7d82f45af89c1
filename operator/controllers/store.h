#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/table.h"
#include "operator/life/node_state.h"

namespace weft::controllers {

// A Service of ours: what counts is which job's and attempt's it is.
struct Service {
  api::ObjectMeta meta;
};

// A node that is not Ready, as seen by this operator.
struct NotReady {
  api::ObjectKey key;
  UnixSeconds since = 0;
};
inline const api::ObjectKey& KeyOf(const NotReady& node) { return node.key; }

// Callbacks for changes, outside the store's lock, from the thread that made the change.
struct StoreHooks {
  using OfObject = std::function<void(const api::ObjectKey&)>;
  OfObject on_job = [](const api::ObjectKey&) {};        // the job or an object it owns changed
  OfObject on_placement = [](const api::ObjectKey&) {};  // of others: it, or its pods
  OfObject on_decision = [](const api::ObjectKey&) {};   // any Placement
  std::function<void()> on_capacity = [] {};             // a plan made now could differ
  std::function<void()> on_fabric = [] {};               // a Node or a Fabric is another
};

// The nodes at one moment.
struct KnownNodes {
  SnapshotMap<api::Node>::Snapshot nodes;
  SnapshotMap<NotReady>::Snapshot not_ready;

  life::NodeState Of(const std::string& name) const;
};

// One job with all that is its own, as it was at one moment.
struct JobObjects {
  std::shared_ptr<const api::TrainingJob> job;
  std::vector<std::shared_ptr<const api::Placement>> placements;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  std::shared_ptr<const Service> service;  // null: none of this job's
  KnownNodes nodes;
};

// The operator's cache of the API server: written by one reflector per kind and by the answers to
// our own writes, read by many.
//
// An object that cannot be read is held all the same, with `unreadable` set. If a Node or a Pod
// could be read before, its last readable state stays, so that an unreadable object never frees
// resources.
//
// Cost           a change O(log objects), and what its hooks do. Readers hold the lock for as long
//                as it takes to copy a list of blocks (snapshot_map.h), and scan without it.
// Thread-safety  all calls may run at once.
class Store {
 public:
  explicit Store(std::function<UnixSeconds()> now) : now_(std::move(now)) {}
  // Before the first Put.
  void SetHooks(StoreHooks hooks) { hooks_ = std::move(hooks); }

  // For api::Node, Pod, TrainingJob, Placement, Fabric, PriorityClass, Namespace, and Service.
  template <typename T>
  void Put(T object);
  template <typename T>
  void Remove(const api::ObjectKey& key);

  // Keys of one kind that are held in a version up to that one: what a list of that version does
  // not show is gone.
  template <typename T>
  std::vector<api::ObjectKey> HeldUpTo(const std::string& resource_version) const;

  // Nothing if the job does not exist.
  std::optional<JobObjects> ObjectsOf(const api::ObjectKey& job) const;
  std::shared_ptr<const api::Placement> PlacementAt(const api::ObjectKey& key) const;
  life::NodeState StateOfNode(const std::string& node) const;
  // Whether a Placement of that namespace ("" any) that no TrainingJob owns waits for nodes.
  bool HasUnplaced(const std::string& space) const;
  // Pods that its podSelector matches and no TrainingJob owns. Cost  O(pods of its namespace).
  std::vector<std::shared_ptr<const api::Pod>> PodsOf(const api::Placement& placement) const;
  std::vector<std::shared_ptr<const api::Fabric>> UnreadableFabrics() const;
  // All objects that a decision reads, by key within each kind; `order` is empty. Unreadable
  // Fabrics are left out.
  struct Picture {
    api::Inputs inputs;
    std::uint64_t fabrics = 0;  // equal in two pictures: so are their nodes and Fabrics
  };
  Picture Look() const;
  // Nodes and Fabrics alone.
  Picture LookAtFabrics() const;

 private:
  // One object before and after; null: it was not there, or is gone.
  template <typename T>
  struct Change {
    std::shared_ptr<const T> before, now;
    const T& either() const { return now ? *now : *before; }
  };
  // What a TrainingJob controls, by the job's uid.
  template <typename T>
  using Owned = std::map<std::string, SnapshotMap<T>>;

  template <typename T>
  const Table<T>& table() const {
    return std::get<Table<T>>(tables_);
  }

  // Hooks of a kind. Under the lock: whether the object is stored, and which indexes change.
  // Outside: callbacks.
  template <typename T>
  bool Admit(T&) {
    return true;
  }
  bool Admit(api::Node& node);
  bool Admit(api::Pod& pod);
  template <typename T>
  void Index(const Change<T>&) {}
  void Index(const Change<api::Node>& change);
  void Index(const Change<api::Pod>& change);
  void Index(const Change<api::Placement>& change);
  void Index(const Change<api::Fabric>& change);
  template <typename T>
  void Tell(const Change<T>& change) const;
  void Tell(const Change<api::Node>& change) const;
  void Tell(const Change<api::Pod>& change) const;
  void Tell(const Change<api::TrainingJob>& change) const;
  void Tell(const Change<api::Placement>& change) const;
  void Tell(const Change<api::Fabric>& change) const;
  void Tell(const Change<Service>& change) const;

  void TellFabric() const;
  void TellOwner(const api::ObjectMeta& owned) const;
  void TellJobsOn(const std::string& node) const;
  void TellPlacementsOf(const api::ObjectMeta& pod) const;

  const std::function<UnixSeconds()> now_;
  StoreHooks hooks_;
  mutable std::mutex mutex_;
  std::uint64_t fabric_changes_ = 0;
  std::tuple<Table<api::Node>, Table<api::Pod>, Table<api::TrainingJob>, Table<api::Placement>,
             Table<api::Fabric>, Table<api::PriorityClass>, Table<api::Namespace>, Table<Service>>
      tables_;
  SnapshotMap<NotReady> not_ready_;
  Owned<api::Pod> pods_of_;
  Owned<api::Placement> placements_of_;
  std::map<std::string, std::map<api::ObjectKey, std::size_t>> jobs_on_;  // by node: pods of each
  SnapshotMap<api::Placement> selecting_;  // with a podSelector, and no TrainingJob
  std::set<api::ObjectKey> unplaced_;      // Placements that wait for nodes
};

}  // namespace weft::controllers
