#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/config_map.h"
#include "operator/api/fabric.h"
#include "operator/api/inputs.h"
#include "operator/api/kueue.h"
#include "operator/api/node.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/pod_group.h"
#include "operator/base/timestamp.h"
#include "operator/cluster/device_resources.h"
#include "operator/life/node_state.h"
#include "operator/watch/named_resources.h"
#include "operator/watch/store_hooks.h"
#include "operator/watch/store_objects.h"
#include "operator/watch/table.h"

namespace weft::watch {

// The operator's cache of the API server. One reflector per kind and the answers to our own writes
// fill it; many threads read it.
//
// An object that cannot be decoded is stored too, with `unreadable` set. A Node or Pod that could
// be decoded before keeps its last readable state, so that none ever frees resources.
//
// Cost           O(log objects) per change, plus its hooks. Readers hold the lock only while they
//                copy a list of blocks (snapshot_map.h), and scan without it.
// Thread-safety  all calls may run at once.
class Store {
 public:
  // `accelerators`: resources that are accelerators whatever objects name.
  explicit Store(std::function<UnixSeconds()> now, std::vector<std::string> accelerators = {})
      : now_(std::move(now)), named_resources_(std::move(accelerators)) {}
  // Must be called before the first Put.
  void SetHooks(StoreHooks hooks) { hooks_ = std::move(hooks); }
  // Calls `hooks` for every object as if it had changed.
  void TellAll(const StoreHooks& hooks) const;

  // For the kinds of StoreTables; of ConfigMaps only api::kLearnedSteps.
  template <typename T>
  void Put(T object);
  // Removes the object that the deletion is about, if it is still there (table.h).
  template <typename T>
  void Remove(const api::Deletion& deletion);

  // The kind has been listed completely, so what the store lacks of it does not exist.
  template <typename T>
  void Listed(bool listed = true);

  // Keys of one kind whose stored version is at most `resource_version`: those that a list of that
  // version lacks are gone.
  template <typename T>
  std::vector<api::ObjectKey> HeldUpTo(const std::string& resource_version) const;

  // Nothing if the job does not exist.
  std::optional<JobObjects> ObjectsOf(const api::ObjectKey& job) const;
  std::optional<WorkloadObjects> ObjectsOfWorkload(const api::ObjectKey& workload) const;
  // Null if there is no such object.
  template <typename T>
  std::shared_ptr<const T> At(const api::ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    return table<T>().Find(key);
  }
  // Whether the API server serves the kind, and lets it be listed.
  template <typename T>
  bool IsListed() const {
    const std::lock_guard lock(mutex_);
    return table<T>().listed();
  }
  bool HasFabric(const std::string& name) const;
  // Whether a pod that has not ended is in the PodGroup. Cost  O(pods of its namespace).
  bool HasRunningPodIn(const api::ObjectKey& pod_group) const;
  life::NodeState StateOfNode(const std::string& node) const;
  // Whether a Placement of that namespace ("": any), not owned by a TrainingJob, waits for nodes.
  bool HasUnplaced(const std::string& space) const;
  // Pods that match the Placement's podSelector and that no TrainingJob owns; of a Placement of a
  // Workload also those that WasWorkerOf (object_facts.h) names.
  // Cost  O(pods of its gang); without one (GangOf) O(pods of its namespace).
  std::vector<std::shared_ptr<const api::Pod>> PodsOf(const api::Placement& placement) const;
  // Pods of the gang (GangOf) that ask for a Placement (RequestsPlacement), with what their claims
  // ask for among their requests, without those that name a claim or template which is not known
  // yet; and the Placements that may select them: those of the gang, and those that name no gang.
  // Cost  O(pods of the gang); O(Placements of the gang, and of the namespace without a gang).
  std::vector<std::shared_ptr<const api::Pod>> PodsToPlace(const api::ObjectKey& gang) const;
  std::vector<std::shared_ptr<const api::Placement>> Selecting(const api::ObjectKey& gang) const;
  std::vector<std::shared_ptr<const api::Fabric>> UnreadableFabrics() const;
  // All objects that a decision reads, in order of key within each kind; `order` is empty.
  // Unreadable Fabrics are left out.
  struct Snapshot {
    api::Inputs inputs;
    std::uint64_t fabrics = 0;  // equal in two snapshots with the same nodes and Fabrics
  };
  Snapshot TakeSnapshot() const;
  // A snapshot of only Nodes and Fabrics.
  Snapshot SnapshotFabrics() const;
  // The objects of Kueue, which the snapshots lack.
  api::KueueInputs SnapshotKueue() const;
  // A snapshot of only TrainingJobs, Placements and learned steps.
  Snapshot SnapshotJobs() const;

 private:
  // An object before and after a change; null: it did not exist, or is gone.
  template <typename T>
  struct Change {
    std::shared_ptr<const T> before, now;
    const T& either() const { return now ? *now : *before; }
  };
  // By namespace and uid of the TrainingJob that controls them, or the Workload (Placements only).
  template <typename T>
  using Owned = std::map<std::pair<std::string, std::string>, SnapshotMap<T>>;

  template <typename T>
  const ObjectTable<T>& table() const {
    return std::get<ObjectTable<T>>(tables_);
  }

  // What a change of a kind does. With the lock: whether to store the object, and which indexes
  // change. Without the lock: callbacks.
  template <typename T>
  bool Admit(T& object);
  bool Admit(api::Node& node);
  bool Admit(api::Pod& pod);
  bool Admit(api::ResourceSlice& slice);
  template <typename T>
  void Index(const Change<T>&) {}
  void Index(const Change<api::Node>& change);
  void Index(const Change<api::Pod>& change);
  void Index(const Change<api::TrainingJob>& change);
  void Index(const Change<api::Placement>& change);
  void Index(const Change<api::Fabric>& change);
  void Index(const Change<api::Workload>& change);
  void Index(const Change<api::ResourceSlice>& change);
  void Index(const Change<api::DeviceClass>& change);
  template <typename T>
  void Notify(const Change<T>& change) const;
  void Notify(const Change<api::Node>& change) const;
  void Notify(const Change<api::Pod>& change) const;
  void Notify(const Change<api::TrainingJob>& change) const;
  void Notify(const Change<api::Placement>& change) const;
  void Notify(const Change<api::Fabric>& change) const;
  void Notify(const Change<Service>& change) const;
  void Notify(const Change<api::PodGroup>& change) const;
  void Notify(const Change<api::ResourceSlice>& change) const;
  void Notify(const Change<api::ResourceClaim>& change) const;
  void Notify(const Change<api::ClaimTemplate>& change) const;
  void Notify(const Change<api::DeviceClass>& change) const;
  void Notify(const Change<api::Workload>& change) const;
  void Notify(const Change<api::AdmissionCheck>& change) const;
  void Notify(const Change<api::ResourceFlavor>& change) const;

  void NotifyFabric() const;
  void NotifyOwner(const api::ObjectMeta& owned) const;
  void NotifyWorkloads() const;
  void NotifyWorkloadsOf(const api::ObjectMeta& job) const;
  void NotifyJobsOn(const std::string& node) const;
  void NotifyPlacementsOf(const api::Pod& pod) const;
  void NotifyPlacementsOf(const api::ObjectMeta& workload) const;
  void NotifyGang(const api::Pod& pod) const;
  void NotifyGangsNaming(const api::ObjectKey& claim_or_template) const;

  std::vector<std::shared_ptr<const api::Placement>> PlacementsOf(const api::Pod& pod) const;
  void AddAskedByClaims(const std::string& space,
                        std::vector<std::shared_ptr<const api::Pod>>& pods) const;
  // With the lock.
  bool HasAccelerators(const api::ResourceSlice& slice) const;
  void NameAccelerators(api::Inputs& inputs) const;
  void AcceleratorsChanged();

  const std::function<UnixSeconds()> now_;
  StoreHooks hooks_;
  mutable std::mutex mutex_;
  std::uint64_t fabric_changes_ = 0;
  NamedResources named_resources_;  // of TrainingJobs, Placements and settings
  mutable std::optional<cluster::DeviceResources>
      devices_;  // empty after a change of what it follows
  StoreTables tables_;
  SnapshotMap<NotReady> not_ready_;
  Owned<api::Pod> pods_of_;
  Owned<api::Placement> placements_of_;
  Owned<api::Workload> workloads_of_;
  std::map<std::string, std::map<api::ObjectKey, std::size_t>> jobs_on_;  // by node: pods per job
  // By gang (GangOf): its pods, and the Placements that select them.
  std::map<api::ObjectKey, SnapshotMap<api::Pod>> pods_of_gang_;
  std::map<api::ObjectKey, SnapshotMap<api::Placement>> placements_of_gang_;
  SnapshotMap<api::Placement> selecting_;  // Placements that select pods and name no gang
  std::set<api::ObjectKey> unplaced_;      // Placements that wait for nodes
};

}  // namespace weft::watch
