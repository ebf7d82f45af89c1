#include "operator/watch/store.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "operator/api/device_details.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/devices.h"
#include "operator/cluster/foreign_gang.h"
#include "operator/life/gang_step.h"
#include "operator/watch/object_facts.h"

namespace weft::watch {
namespace {

// The TrainingJob or Workload that controls the object; nullptr if there is none.
const api::OwnerReference* OwnerOf(const api::ObjectMeta& meta) {
  const api::OwnerReference* job = api::ControllingJob(meta);
  return job ? job : api::ControllingWorkload(meta);
}

// Updates the index of objects by owner. A new object of the same name may have another owner.
template <typename T, typename Owned>
void IndexByOwner(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& now,
                  Owned& owned) {
  const api::OwnerReference* was = before ? OwnerOf(before->meta) : nullptr;
  const api::OwnerReference* is = now ? OwnerOf(now->meta) : nullptr;
  if (was && (!is || is->uid != was->uid)) {
    const auto found = owned.find(OwnerKey(before->meta.key.space, was->uid));
    WEFT_CHECK(found != owned.end());  // it was put there when it was stored
    WEFT_CHECK(found->second.Erase(before->meta.key) != nullptr);
    if (found->second.empty()) owned.erase(found);
  }
  if (is) owned[OwnerKey(now->meta.key.space, is->uid)].Put(now);
}

// Updates the index of objects by gang.
template <typename T, typename ByGang>
void IndexByGang(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& now,
                 ByGang& of_gang) {
  const auto was = before ? GangOf(*before) : std::nullopt;
  const auto is = now ? GangOf(*now) : std::nullopt;
  if (was && was != is) {
    const auto found = of_gang.find(*was);
    WEFT_CHECK(found != of_gang.end());  // it was put there when it was stored
    WEFT_CHECK(found->second.Erase(before->meta.key) != nullptr);
    if (found->second.empty()) of_gang.erase(found);
  }
  if (is) of_gang[*is].Put(now);
}

}  // namespace

template <typename T>
void Store::Put(T object) {
  Change<T> change;
  {
    const std::lock_guard lock(mutex_);
    if (!Admit(object)) return;
    change.now = std::make_shared<const T>(std::move(object));
    bool replaced = false;
    std::tie(change.before, replaced) = std::get<ObjectTable<T>>(tables_).Put(change.now);
    if (!replaced) return;
    Index(change);
  }
  Notify(change);
}

template <typename T>
void Store::Listed(bool listed) {
  const std::lock_guard lock(mutex_);
  std::get<ObjectTable<T>>(tables_).SetListed(listed);
}

template <typename T>
void Store::Remove(const api::Deletion& deletion) {
  Change<T> change;
  {
    const std::lock_guard lock(mutex_);
    change.before = std::get<ObjectTable<T>>(tables_).Remove(deletion);
    if (!change.before) return;
    Index(change);
  }
  Notify(change);
}

// Ignores a new state of a kind of volumes that says the same, and nodes without limits, which are
// most.
template <typename T>
bool Store::Admit(T& object) {
  if constexpr (requires { api::SameVolume(object, object); }) {
    const auto known = table<T>().Find(object.meta.key);
    if constexpr (std::is_same_v<T, api::CsiNode>) {
      if (!known) return !object.limits.empty();
    }
    return !known || !api::SameVolume(*known, object);
  }
  return true;
}

// Ignores heartbeats, which change no fact, and unreadable states of a node that was readable
// before.
bool Store::Admit(api::Node& node) {
  const auto known = table<api::Node>().Find(node.meta.key);
  if (!known) return true;
  return node.unreadable.empty() && (!known->unreadable.empty() || !(known->facts == node.facts) ||
                                     known->meta.uid != node.meta.uid);
}

bool Store::Admit(api::Pod& pod) {
  if (pod.unreadable.empty()) return true;
  const auto known = table<api::Pod>().Find(pod.meta.key);
  if (known && known->meta.uid == pod.meta.uid) pod = Onto(*known, pod);
  return true;
}

// Ignores a new state that says the same about devices. Without the details of accelerators, which
// nobody asks for: of 10,000 nodes with eight each they would be an estimated 100 MB.
bool Store::Admit(api::ResourceSlice& slice) {
  if (cluster::IsKnownDriver(slice.driver)) api::DropDetails(slice);
  const auto known = table<api::ResourceSlice>().Find(slice.meta.key);
  return !known || known->meta.uid != slice.meta.uid || !api::SameDevices(*known, slice);
}

// Devices of another driver count too if a DeviceClass selects them (cluster/other_devices.h).
bool Store::HasAccelerators(const api::ResourceSlice& slice) const {
  if (!devices_) {
    api::Inputs inputs;
    table<api::DeviceClass>().Take().Each(
        [&](const auto& one) { inputs.device_classes.push_back(*one); });
    NameAccelerators(inputs);
    devices_.emplace(inputs);
  }
  bool counts = devices_->KnowsDriver(slice.driver);
  table<api::DeviceClass>().Take().Each(
      [&](const auto& one) { counts = counts || one->driver == slice.driver; });
  return counts;
}

// A node's capacity may depend on both.
void Store::Index(const Change<api::ResourceSlice>& change) {
  if (HasAccelerators(change.either())) ++fabric_changes_;
}

void Store::AcceleratorsChanged() {
  ++fabric_changes_;
  devices_.reset();
}

void Store::Index(const Change<api::DeviceClass>&) { AcceleratorsChanged(); }

void Store::Index(const Change<api::Node>& change) {
  ++fabric_changes_;
  const api::ObjectKey& key = change.either().meta.key;
  const bool ready = !change.now || IsReady(*change.now);
  if (ready) {
    not_ready_.Erase(key);
  } else if (!not_ready_.Find(key)) {
    not_ready_.Put(std::make_shared<const NotReady>(NotReady{key, now_()}));
  }
}

void Store::Index(const Change<api::Pod>& change) {
  IndexByOwner(change.before, change.now, pods_of_);
  IndexByGang(change.before, change.now, pods_of_gang_);
  const auto count = [this](const api::Pod& pod, bool add) {
    const api::OwnerReference* owner = api::ControllingJob(pod.meta);
    if (!owner || pod.node_name.empty()) return;
    auto& jobs = jobs_on_[pod.node_name];
    std::size_t& pods = jobs[{pod.meta.key.space, owner->name}];
    WEFT_CHECK(add || pods > 0);  // each pod is taken off once
    pods = add ? pods + 1 : pods - 1;
    if (pods > 0) return;
    jobs.erase({pod.meta.key.space, owner->name});
    if (jobs.empty()) jobs_on_.erase(pod.node_name);
  };
  if (change.now) count(*change.now, true);
  if (change.before) count(*change.before, false);
}

void Store::Index(const Change<api::TrainingJob>& change) {
  if (named_resources_.Change(change.before.get(), change.now.get())) AcceleratorsChanged();
}

void Store::Index(const Change<api::Placement>& change) {
  if (named_resources_.Change(change.before.get(), change.now.get())) AcceleratorsChanged();
  IndexByOwner(change.before, change.now, placements_of_);
  IndexByGang(change.before, change.now, placements_of_gang_);
  const api::ObjectKey& key = change.either().meta.key;
  if (change.now && Selects(*change.now) && !GangOf(*change.now)) {
    selecting_.Put(change.now);
  } else {
    selecting_.Erase(key);
  }
  if (change.now && life::WaitsForNodes(*change.now)) {
    unplaced_.insert(key);
  } else {
    unplaced_.erase(key);
  }
}

void Store::Index(const Change<api::Fabric>& change) {
  if (change.before && change.now && SpecIsTheSame(*change.before, *change.now)) return;
  ++fabric_changes_;
}

void Store::Index(const Change<api::Workload>& change) {
  IndexByOwner(change.before, change.now, workloads_of_);
}

// PriorityClasses, Namespaces, learned steps and volumes: a change of them may change plans.
template <typename T>
void Store::Notify(const Change<T>&) const {
  hooks_.on_capacity();
}

// A new node needs no call: its jobs were never told that the node is gone.
void Store::Notify(const Change<api::Node>& change) const {
  const bool healed =
      change.before && change.now && IsReady(*change.before) != IsReady(*change.now);
  WEFT_CHECK(change.before || change.now);
  if (healed || !change.now) NotifyJobsOn(change.before->meta.key.name);
  NotifyFabric();
}

void Store::Notify(const Change<api::Pod>& change) const {
  const auto& [before, now] = change;
  const api::ObjectMeta& meta = change.either().meta;
  NotifyOwner(meta);
  NotifyPlacementsOf(change.either());
  if (before && now && before->meta.labels != meta.labels) NotifyPlacementsOf(*before);
  NotifyGang(change.either());
  const bool planned = before && now ? !HoldAlike(*before, *now)
                       : now         ? true
                                     : before->Holds() || !before->nominated_node.empty() ||
                                   !before->scheduling_gates.empty();
  if (planned && !Seeded(Bug::kCapacityUnheard)) hooks_.on_capacity();
}

void Store::Notify(const Change<api::TrainingJob>& change) const {
  if (Seeded(Bug::kLeak) && !change.now) new std::string(std::size_t{4} << 20, 'x');
  hooks_.on_job(change.either().meta.key);
  NotifyWorkloadsOf(change.either().meta);
  if (!change.now) hooks_.on_capacity();
}

void Store::Notify(const Change<api::Placement>& change) const {
  const api::ObjectMeta& meta = change.either().meta;
  NotifyOwner(meta);
  if (change.now && !api::ControllingJob(meta)) hooks_.on_placement(meta.key);
  if (const auto base = meta.labels.At(cluster::kGangLabel); base && !change.now) {
    hooks_.on_gang({meta.key.space, std::string(*base)});
  }
  if (const auto* owner = api::ControllingWorkload(meta)) {
    hooks_.on_workload({meta.key.space, owner->name});
  }
  hooks_.on_decision(meta.key);
  hooks_.on_capacity();
}

void Store::Notify(const Change<api::Fabric>& change) const {
  if (change.before && change.now && SpecIsTheSame(*change.before, *change.now)) return;
  NotifyFabric();
  SnapshotMap<api::AdmissionCheck>::Snapshot checks;  // which may name the Fabric
  {
    const std::lock_guard lock(mutex_);
    checks = table<api::AdmissionCheck>().Take();
  }
  checks.Each([&](const auto& check) { hooks_.on_workload(check->meta.key); });
}

void Store::Notify(const Change<api::ResourceSlice>& change) const {
  bool counts = false;
  {
    const std::lock_guard lock(mutex_);
    counts = HasAccelerators(change.either());
  }
  if (counts) NotifyFabric();
}

void Store::Notify(const Change<api::DeviceClass>&) const { NotifyFabric(); }

void Store::Notify(const Change<api::ResourceClaim>& change) const {
  const auto& [before, now] = change;
  const bool same = before && now && before->devices == now->devices && before->users == now->users;
  const bool holds = (before && !before->devices.empty()) || (now && !now->devices.empty());
  if (holds && !same) hooks_.on_capacity();
  if (!before && !now->of_template) NotifyGangsNaming(now->meta.key);
}

void Store::Notify(const Change<api::ClaimTemplate>& change) const {
  NotifyGangsNaming(change.either().meta.key);
}

// What pods ask for that were made before their claim or template was seen is known only now; of a
// job or Workload that waits for nodes, whether its pods claim a channel of a ComputeDomain.
void Store::NotifyGangsNaming(const api::ObjectKey& key) const {
  SnapshotMap<api::Pod>::Snapshot pods;
  SnapshotMap<api::TrainingJob>::Snapshot jobs;
  SnapshotMap<api::Workload>::Snapshot workloads;
  {
    const std::lock_guard lock(mutex_);
    if (!pods_of_gang_.empty()) pods = table<api::Pod>().Take();
    jobs = table<api::TrainingJob>().Take();
    workloads = table<api::Workload>().Take();
  }
  const auto name_it = [&](const std::vector<api::ClaimReference>& claims) {
    return std::any_of(claims.begin(), claims.end(), [&](const auto& claim) {
      return claim.claim == key.name || claim.claim_template == key.name;
    });
  };
  pods.EachIn(key.space, [&](const auto& pod) {
    if (name_it(pod->claims)) NotifyGang(*pod);
  });
  bool named = false;
  jobs.EachIn(key.space, [&](const auto& job) { named = named || name_it(job->claims); });
  workloads.EachIn(key.space, [&](const auto& workload) {
    const auto& sets = workload->pod_sets;
    const bool names_it =
        std::any_of(sets.begin(), sets.end(), [&](const auto& set) { return name_it(set.claims); });
    if (!names_it) return;
    hooks_.on_workload(workload->meta.key);
    named = true;
  });
  if (named) hooks_.on_capacity();
}

// A job's Service has its name.
void Store::Notify(const Change<Service>& change) const {
  if (!Seeded(Bug::kServiceUnheard)) hooks_.on_job(change.either().meta.key);
}

// The job of a PodGroup is named by its label: its Placement owns it.
void Store::Notify(const Change<api::PodGroup>& change) const {
  const api::ObjectMeta& meta = change.either().meta;
  hooks_.on_pod_group(meta.key);
  if (const auto job = meta.labels.At(api::kJobNameLabel)) {
    hooks_.on_job({meta.key.space, std::string(*job)});
  }
}

// Its Placements wait for the pods that have not succeeded.
void Store::Notify(const Change<api::Workload>& change) const {
  const api::ObjectMeta& meta = change.either().meta;
  NotifyOwner(meta);
  hooks_.on_workload(meta.key);
  const auto& [before, now] = change;
  if (before && now && SucceededPods(*before) != SucceededPods(*now)) NotifyPlacementsOf(meta);
}

void Store::Notify(const Change<api::AdmissionCheck>& change) const {
  const auto& [before, now] = change;
  hooks_.on_workload(change.either().meta.key);
  const bool same = before && now && before->controller == now->controller &&
                    before->parameters == now->parameters;
  if (!same) NotifyWorkloads();
}

void Store::Notify(const Change<api::ResourceFlavor>& change) const {
  const auto& [before, now] = change;
  if (before && now && before->meta.generation == now->meta.generation) return;
  NotifyWorkloads();
}

// A TrainingJob in a queue also reads the checks and flavors of its Workload.
void Store::NotifyWorkloads() const {
  SnapshotMap<api::Workload>::Snapshot workloads;
  {
    const std::lock_guard lock(mutex_);
    workloads = table<api::Workload>().Take();
  }
  workloads.Each([&](const auto& workload) {
    NotifyOwner(workload->meta);
    hooks_.on_workload(workload->meta.key);
  });
}

// The checks of a job's Workload depend on the job.
void Store::NotifyWorkloadsOf(const api::ObjectMeta& job) const {
  SnapshotMap<api::Workload>::Snapshot workloads;
  {
    const std::lock_guard lock(mutex_);
    const auto found = workloads_of_.find(OwnerKey(job.key.space, job.uid));
    if (found == workloads_of_.end()) return;
    workloads = found->second.Take();
  }
  workloads.Each([&](const auto& workload) { hooks_.on_workload(workload->meta.key); });
}

void Store::NotifyFabric() const {
  hooks_.on_fabric();
  hooks_.on_capacity();
}

void Store::NotifyOwner(const api::ObjectMeta& owned) const {
  if (const auto* owner = api::ControllingJob(owned)) {
    hooks_.on_job({owned.key.space, owner->name});
  }
}

void Store::NotifyJobsOn(const std::string& node) const {
  std::vector<api::ObjectKey> jobs;
  {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_on_.find(node);
    if (found == jobs_on_.end()) return;
    for (const auto& [job, pods] : found->second) jobs.push_back(job);
  }
  for (const api::ObjectKey& job : jobs) hooks_.on_job(job);
}

void Store::NotifyPlacementsOf(const api::ObjectMeta& workload) const {
  SnapshotMap<api::Placement>::Snapshot placements;
  {
    const std::lock_guard lock(mutex_);
    const auto found = placements_of_.find(OwnerKey(workload.key.space, workload.uid));
    if (found != placements_of_.end()) placements = found->second.Take();
  }
  placements.Each([&](const auto& placement) { hooks_.on_placement(placement->meta.key); });
}

void Store::NotifyPlacementsOf(const api::Pod& pod) const {
  if (api::ControllingJob(pod.meta)) return;
  for (const auto& placement : PlacementsOf(pod)) {
    hooks_.on_placement(placement->meta.key);
    if (const auto* owner = api::ControllingWorkload(placement->meta)) {
      hooks_.on_workload({pod.meta.key.space, owner->name});
    }
  }
}

void Store::NotifyGang(const api::Pod& pod) const {
  if (RequestsPlacement(pod)) hooks_.on_gang(*GangOf(pod));
}

// Only for kinds that answers to our own writes put into the store; other kinds come from the
// watch.
template <typename T>
std::vector<api::ObjectKey> Store::HeldUpTo(const std::string& resource_version) const {
  constexpr bool kWritten = std::is_same_v<T, api::Pod> || std::is_same_v<T, api::TrainingJob> ||
                            std::is_same_v<T, api::Placement> || std::is_same_v<T, Service> ||
                            std::is_same_v<T, api::Workload> ||
                            std::is_same_v<T, api::AdmissionCheck> ||
                            std::is_same_v<T, api::PodGroup>;
  std::vector<api::ObjectKey> keys;
  if constexpr (kWritten) {
    typename SnapshotMap<T>::Snapshot all;
    {
      const std::lock_guard lock(mutex_);
      all = table<T>().Take();
    }
    const std::uint64_t version = VersionOf(resource_version);
    all.Each([&](const auto& object) {
      if (VersionOf(object->meta.resource_version) <= version) keys.push_back(object->meta.key);
    });
  }
  return keys;
}

#define WEFT_STORE_OF(T)                                \
  template void Store::Put<T>(T);                       \
  template void Store::Remove<T>(const api::Deletion&); \
  template void Store::Listed<T>(bool);                 \
  template std::vector<api::ObjectKey> Store::HeldUpTo<T>(const std::string&) const
WEFT_STORE_OF(api::Node);
WEFT_STORE_OF(api::Pod);
WEFT_STORE_OF(api::TrainingJob);
WEFT_STORE_OF(api::Placement);
WEFT_STORE_OF(api::Fabric);
WEFT_STORE_OF(api::PriorityClass);
WEFT_STORE_OF(api::Namespace);
WEFT_STORE_OF(Service);
WEFT_STORE_OF(api::Workload);
WEFT_STORE_OF(api::AdmissionCheck);
WEFT_STORE_OF(api::ResourceFlavor);
WEFT_STORE_OF(api::ConfigMap);
WEFT_STORE_OF(api::ResourceSlice);
WEFT_STORE_OF(api::ResourceClaim);
WEFT_STORE_OF(api::ClaimTemplate);
WEFT_STORE_OF(api::DeviceClass);
WEFT_STORE_OF(api::PersistentVolume);
WEFT_STORE_OF(api::VolumeClaim);
WEFT_STORE_OF(api::StorageClass);
WEFT_STORE_OF(api::CsiNode);
WEFT_STORE_OF(api::PodGroup);
#undef WEFT_STORE_OF

}  // namespace weft::watch
