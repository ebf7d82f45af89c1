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

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/table.h"
#include "operator/decide/next_step.h"

namespace weft::controllers {

// A Service of ours: what counts is which job's and attempt's it is.
struct Service {
  api::ObjectMeta meta;
};

// Who wants to know of a change. Called outside the store's lock, from whichever thread changed it.
struct StoreHooks {
  using OfObject = std::function<void(const api::ObjectKey&)>;
  OfObject on_job = [](const api::ObjectKey&) {};        // it, or something of it
  OfObject on_placement = [](const api::ObjectKey&) {};  // of others: it, or its pods
  OfObject on_decision = [](const api::ObjectKey&) {};   // any Placement
  std::function<void()> on_capacity = [] {};             // a plan made now could come out otherwise
  std::function<void()> on_fabric = [] {};               // a Node or a Fabric is another
};

// One job with all that is its own, held for as long as a pass takes.
struct JobObjects {
  std::shared_ptr<const api::TrainingJob> job;
  std::vector<std::shared_ptr<const api::Placement>> placements;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  std::shared_ptr<const Service> service;          // null: none of this job's
  std::map<std::string, decide::NodeState> nodes;  // of the pods
};

// The operator's copy of the API server: one writer per kind (its reflector) besides the answers to
// our own writes, many readers.
//
// An object that cannot be read is held all the same, with `unreadable` set. Of a Node or a Pod
// that could be read before, what was read stays: what it holds is never free by a text that we
// cannot read.
// Thread-safety  all calls may run at once.
class Store {
 public:
  explicit Store(std::function<UnixSeconds()> now) : now_(std::move(now)) {}
  // Before the first Put.
  void SetHooks(StoreHooks hooks) { hooks_ = std::move(hooks); }

  void Put(api::Node node);
  void Put(api::Pod pod);
  void Put(api::TrainingJob job);
  void Put(api::Placement placement);
  void Put(api::Fabric fabric);
  void Put(api::PriorityClass priority);
  void Put(api::Namespace space);
  void Put(Service service);

  void RemoveNode(const api::ObjectKey& key);
  void RemovePod(const api::ObjectKey& key);
  void RemoveJob(const api::ObjectKey& key);
  void RemovePlacement(const api::ObjectKey& key);
  void RemoveFabric(const api::ObjectKey& key);
  void RemovePriorityClass(const api::ObjectKey& key);
  void RemoveNamespace(const api::ObjectKey& key);
  void RemoveService(const api::ObjectKey& key);

  // Keys of one kind that are held in a version up to that one: what a list of that version does
  // not show is gone.
  template <typename T>
  std::vector<api::ObjectKey> HeldUpTo(const std::string& resource_version) const;

  // Nothing where there is no such job.
  std::optional<JobObjects> ObjectsOf(const api::ObjectKey& job) const;
  std::vector<std::shared_ptr<const api::Fabric>> UnreadableFabrics() const;
  std::shared_ptr<const api::Placement> PlacementAt(const api::ObjectKey& key) const;
  decide::NodeState StateOfNode(const std::string& node) const;
  // Those that its podSelector matches, and no TrainingJob owns.
  std::vector<std::shared_ptr<const api::Pod>> PodsOf(const api::Placement& placement) const;
  // Everything that a decision reads, by key within each kind; `order` is empty. Unreadable Fabrics
  // are left out.
  struct Picture {
    api::Inputs inputs;
    std::uint64_t fabrics = 0;  // equal in two pictures: so are their nodes and Fabrics
  };
  Picture Look() const;

 private:
  struct NodeEntry {
    std::shared_ptr<const api::Node> node;
    std::optional<UnixSeconds> not_ready_since;
  };
  using Keys = std::set<api::ObjectKey>;

  template <typename T>
  void PutPlanned(Table<T>& table, T object);
  template <typename T>
  void RemovePlanned(Table<T>& table, const api::ObjectKey& key);
  void TellFabric() const;
  void TellJob(const api::ObjectMeta& owned) const;
  void TellJobsOn(const std::string& node) const;
  void TellPlacementsOf(const api::ObjectMeta& pod) const;
  decide::NodeState StateOf(const std::string& node) const;

  const std::function<UnixSeconds()> now_;
  StoreHooks hooks_;
  mutable std::mutex mutex_;
  std::uint64_t fabric_changes_ = 0;
  std::map<std::string, NodeEntry> nodes_;
  Table<api::Pod> pods_;
  Table<api::TrainingJob> jobs_;
  Table<api::Placement> placements_;
  Table<api::Fabric> fabrics_;
  Table<api::PriorityClass> priorities_;
  Table<api::Namespace> namespaces_;
  Table<Service> services_;
  std::map<std::string, Keys> pods_of_;        // by the uid of the controlling TrainingJob
  std::map<std::string, Keys> placements_of_;  // likewise
  Keys selecting_;                             // Placements with a podSelector
};

// The TrainingJob that controls the object, by owner reference.
std::optional<api::OwnerReference> OwningJob(const api::ObjectMeta& meta);

}  // namespace weft::controllers
