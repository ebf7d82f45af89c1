// What others read from the store: objects of one owner, and copies for a plan.
#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/units.h"
#include "operator/cluster/devices.h"
#include "operator/cluster/gang_members.h"
#include "operator/fabric/health_signals.h"
#include "operator/life/attempt_labels.h"
#include "operator/watch/object_facts.h"
#include "operator/watch/store.h"

namespace weft::watch {
namespace {

template <typename Owned>
auto TakeOwned(const Owned& owned, const typename Owned::key_type& owner) {
  using Snapshot = typename Owned::mapped_type::Snapshot;
  const auto found = owned.find(owner);
  return found == owned.end() ? Snapshot() : found->second.Take();
}

template <typename Snapshot, typename List>
void Collect(const Snapshot& snapshot, List& list) {
  WEFT_DCHECK(list.empty());
  list.reserve(snapshot.size());
  snapshot.Each([&](const auto& object) { list.push_back(object); });
}

template <typename T>
std::vector<T> Copies(const typename SnapshotMap<T>::Snapshot& snapshot) {
  std::vector<T> copies;
  copies.reserve(snapshot.size());
  snapshot.Each([&](const auto& object) { copies.push_back(*object); });
  return copies;
}

template <typename Nodes, typename Lost>
life::NodeState StateIn(const Nodes& nodes, const Lost& not_ready, const std::string& name) {
  const api::ObjectKey key{"", name};
  const auto node = nodes.Find(key);
  life::NodeState state;
  state.exists = node != nullptr;
  if (!node) return state;
  state.made = ParseTime(node->meta.creation_timestamp).value_or(0);
  if (const auto lost = not_ready.Find(key)) {
    state.not_ready_since = lost->since;
    state.unready_since = fabric::UnreadySince(node->facts);
  }
  for (const fabric::HealthChange& one : fabric::HealthChanges(node->facts)) {
    state.faults.push_back({one.condition, one.since});
  }
  state.monitored = fabric::IsMonitored(node->facts);
  return state;
}

std::vector<api::Fabric> Readable(const SnapshotMap<api::Fabric>::Snapshot& snapshot) {
  std::vector<api::Fabric> fabrics = Copies<api::Fabric>(snapshot);
  std::erase_if(fabrics, [](const api::Fabric& one) { return !one.unreadable.empty(); });
  return fabrics;
}

}  // namespace

life::NodeState KnownNodes::Of(const std::string& name) const {
  return StateIn(nodes, not_ready, name);
}

life::NodeState Store::StateOfNode(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return StateIn(table<api::Node>(), not_ready_, node);
}

std::optional<JobObjects> Store::ObjectsOf(const api::ObjectKey& key) const {
  JobObjects objects;
  SnapshotMap<api::Placement>::Snapshot placements;
  SnapshotMap<api::Pod>::Snapshot pods;
  SnapshotMap<api::Workload>::Snapshot workloads;
  {
    const std::lock_guard lock(mutex_);
    objects.job = table<api::TrainingJob>().Find(key);
    if (!objects.job) return std::nullopt;
    const std::string& uid = objects.job->meta.uid;
    placements = TakeOwned(placements_of_, OwnerKey(key.space, uid));
    pods = TakeOwned(pods_of_, OwnerKey(key.space, uid));
    workloads = TakeOwned(workloads_of_, OwnerKey(key.space, uid));
    objects.checks = table<api::AdmissionCheck>().Take();
    objects.flavors = table<api::ResourceFlavor>().Take();
    const auto service = table<Service>().Find(key);
    if (service && life::IsOfJob(service->meta, uid)) objects.service = service;
    objects.nodes = {table<api::Node>().Take(), not_ready_.Take()};
    objects.pod_groups_listed = table<api::PodGroup>().listed();
  }
  Collect(placements, objects.placements);
  Collect(pods, objects.pods);
  Collect(workloads, objects.workloads);
  for (const auto& pod : objects.pods) {
    if (pod->pod_group.empty() || life::AttemptLabel(pod->meta) != objects.job->attempt) continue;
    objects.pod_group = At<api::PodGroup>({pod->meta.key.space, pod->pod_group});
    break;
  }
  return objects;
}

std::optional<WorkloadObjects> Store::ObjectsOfWorkload(const api::ObjectKey& key) const {
  WorkloadObjects objects;
  SnapshotMap<api::Placement>::Snapshot placements;
  {
    const std::lock_guard lock(mutex_);
    objects.workload = table<api::Workload>().Find(key);
    if (!objects.workload) return std::nullopt;
    placements = TakeOwned(placements_of_, OwnerKey(key.space, objects.workload->meta.uid));
    objects.checks = table<api::AdmissionCheck>().Take();
    objects.flavors = table<api::ResourceFlavor>().Take();
  }
  Collect(placements, objects.placements);
  return objects;
}

void Store::TellAll(const StoreHooks& hooks) const {
  std::unique_lock lock(mutex_);
  const auto jobs = table<api::TrainingJob>().Take();
  const auto placements = table<api::Placement>().Take();
  const auto workloads = table<api::Workload>().Take();
  const auto checks = table<api::AdmissionCheck>().Take();
  const auto groups = table<api::PodGroup>().Take();
  std::vector<api::ObjectKey> gangs;
  for (const auto& [gang, pods] : pods_of_gang_) gangs.push_back(gang);
  lock.unlock();
  jobs.Each([&](const auto& job) { hooks.on_job(job->meta.key); });
  placements.Each([&](const auto& placement) {
    if (!api::ControllingJob(placement->meta)) hooks.on_placement(placement->meta.key);
  });
  for (const api::ObjectKey& gang : gangs) hooks.on_gang(gang);
  workloads.Each([&](const auto& workload) { hooks.on_workload(workload->meta.key); });
  checks.Each([&](const auto& check) { hooks.on_workload(check->meta.key); });
  groups.Each([&](const auto& group) { hooks.on_pod_group(group->meta.key); });
  hooks.on_capacity();
  hooks.on_fabric();
}

bool Store::HasFabric(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return table<api::Fabric>().Find({"", name}) != nullptr;
}

bool Store::HasRunningPodIn(const api::ObjectKey& pod_group) const {
  SnapshotMap<api::Pod>::Snapshot pods;
  {
    const std::lock_guard lock(mutex_);
    pods = table<api::Pod>().Take();
  }
  bool has = false;
  pods.EachIn(pod_group.space, [&](const auto& pod) {
    has = has || (pod->pod_group == pod_group.name && !pod->HasEnded());
  });
  return has;
}

bool Store::HasUnplaced(const std::string& space) const {
  const std::lock_guard lock(mutex_);
  const auto first = unplaced_.lower_bound({space, ""});
  return first != unplaced_.end() && (space.empty() || first->space == space);
}

std::vector<std::shared_ptr<const api::Pod>> Store::PodsOf(const api::Placement& placement) const {
  std::vector<std::shared_ptr<const api::Pod>> pods, over;
  if (!placement.pod_selector) return pods;
  const auto gang = GangOf(placement);
  SnapshotMap<api::Pod>::Snapshot all;
  {
    const std::lock_guard lock(mutex_);
    all = gang ? TakeOwned(pods_of_gang_, *gang) : table<api::Pod>().Take();
  }
  all.EachIn(placement.meta.key.space, [&](const auto& pod) {
    if (api::ControllingJob(pod->meta)) return;
    if (cluster::Selects(placement, *pod)) {
      pods.push_back(pod);
    } else if (WasWorkerOf(placement, *pod)) {
      over.push_back(pod);
    }
  });
  cluster::KeepPresent(placement, pods, [](const auto& pod) -> const api::Pod& { return *pod; });
  pods.insert(pods.end(), over.begin(), over.end());
  return pods;
}

std::vector<std::shared_ptr<const api::Pod>> Store::PodsToPlace(const api::ObjectKey& gang) const {
  SnapshotMap<api::Pod>::Snapshot all;
  {
    const std::lock_guard lock(mutex_);
    all = TakeOwned(pods_of_gang_, gang);
  }
  std::vector<std::shared_ptr<const api::Pod>> pods;
  all.Each([&](const auto& pod) {
    if (RequestsPlacement(*pod)) pods.push_back(pod);
  });
  AddAskedByClaims(gang.space, pods);
  return pods;
}

void Store::AddAskedByClaims(const std::string& space,
                             std::vector<std::shared_ptr<const api::Pod>>& pods) const {
  const bool asks =
      std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return !pod->claims.empty(); });
  if (!asks) return;
  api::Inputs inputs;
  std::unique_lock lock(mutex_);
  const auto classes = table<api::DeviceClass>().Take();
  const auto templates = table<api::ClaimTemplate>().Take();
  const auto claims = table<api::ResourceClaim>().Take();
  const auto slices = table<api::ResourceSlice>().Take();
  NameAccelerators(inputs);
  lock.unlock();
  inputs.device_classes = Copies<api::DeviceClass>(classes);
  Collect(slices, inputs.resource_slices);
  templates.EachIn(space, [&](const auto& one) { inputs.claim_templates.push_back(one); });
  claims.EachIn(space, [&](const auto& one) { inputs.resource_claims.push_back(one); });
  const cluster::ClaimDemand demand(inputs);
  std::erase_if(pods, [&](const auto& pod) { return !demand.Of(*pod); });
  for (auto& pod : pods) {
    const auto asked = demand.Of(*pod);
    if (asked->empty()) continue;
    auto with = std::make_shared<api::Pod>(*pod);
    for (const auto& [name, amount] : *asked) {
      std::int64_t& sum = with->pod.requests[name];
      sum = SaturatingAdd(sum, amount);
    }
    pod = std::move(with);
  }
}

std::vector<std::shared_ptr<const api::Placement>> Store::Selecting(
    const api::ObjectKey& gang) const {
  std::unique_lock lock(mutex_);
  const auto of_gang = TakeOwned(placements_of_gang_, gang);
  const auto others = selecting_.Take();
  lock.unlock();
  std::vector<std::shared_ptr<const api::Placement>> placements;
  Collect(of_gang, placements);
  others.EachIn(gang.space, [&](const auto& placement) { placements.push_back(placement); });
  return placements;
}

std::vector<std::shared_ptr<const api::Placement>> Store::PlacementsOf(const api::Pod& pod) const {
  const auto gang = GangOf(pod);
  auto placements = Selecting(gang.value_or(api::ObjectKey{pod.meta.key.space, ""}));
  std::erase_if(placements,
                [&](const auto& placement) { return !cluster::Selects(*placement, pod); });
  return placements;
}

std::vector<std::shared_ptr<const api::Fabric>> Store::UnreadableFabrics() const {
  std::vector<std::shared_ptr<const api::Fabric>> all;
  {
    const std::lock_guard lock(mutex_);
    Collect(table<api::Fabric>().Take(), all);
  }
  std::erase_if(all, [](const auto& one) { return one->unreadable.empty(); });
  return all;
}

void Store::NameAccelerators(api::Inputs& inputs) const {
  inputs.accelerator_settings = named_resources_.settings();
  inputs.accelerator_resources = named_resources_.Names();
}

Store::Snapshot Store::SnapshotFabrics() const {
  Snapshot snapshot;
  SnapshotMap<api::Node>::Snapshot nodes;
  SnapshotMap<api::Fabric>::Snapshot fabrics;
  SnapshotMap<api::ResourceSlice>::Snapshot slices;
  SnapshotMap<api::DeviceClass>::Snapshot classes;
  {
    const std::lock_guard lock(mutex_);
    snapshot.fabrics = fabric_changes_;
    NameAccelerators(snapshot.inputs);
    nodes = table<api::Node>().Take();
    fabrics = table<api::Fabric>().Take();
    slices = table<api::ResourceSlice>().Take();
    classes = table<api::DeviceClass>().Take();
  }
  Collect(nodes, snapshot.inputs.nodes);
  Collect(slices, snapshot.inputs.resource_slices);
  snapshot.inputs.device_classes = Copies<api::DeviceClass>(classes);
  snapshot.inputs.fabrics = Readable(fabrics);
  return snapshot;
}

api::KueueInputs Store::SnapshotKueue() const {
  std::unique_lock lock(mutex_);
  const auto workloads = table<api::Workload>().Take();
  const auto checks = table<api::AdmissionCheck>().Take();
  const auto flavors = table<api::ResourceFlavor>().Take();
  lock.unlock();
  api::KueueInputs kueue;
  Collect(workloads, kueue.workloads);
  kueue.admission_checks = Copies<api::AdmissionCheck>(checks);
  kueue.resource_flavors = Copies<api::ResourceFlavor>(flavors);
  return kueue;
}

Store::Snapshot Store::SnapshotJobs() const {
  Snapshot snapshot;
  std::unique_lock lock(mutex_);
  const auto jobs = table<api::TrainingJob>().Take();
  const auto placements = table<api::Placement>().Take();
  const auto learned = table<api::ConfigMap>().Take();
  lock.unlock();
  Collect(jobs, snapshot.inputs.jobs);
  Collect(placements, snapshot.inputs.placements);
  learned.Each([&](const auto& map) { snapshot.inputs.learned_steps = *map; });
  return snapshot;
}

Store::Snapshot Store::TakeSnapshot() const {
  Snapshot snapshot;
  std::unique_lock lock(mutex_);
  snapshot.fabrics = fabric_changes_;
  const auto nodes = table<api::Node>().Take();
  const auto pods = table<api::Pod>().Take();
  const auto priorities = table<api::PriorityClass>().Take();
  const auto spaces = table<api::Namespace>().Take();
  const auto fabrics = table<api::Fabric>().Take();
  const auto slices = table<api::ResourceSlice>().Take();
  const auto claims = table<api::ResourceClaim>().Take();
  const auto templates = table<api::ClaimTemplate>().Take();
  const auto classes = table<api::DeviceClass>().Take();
  const auto volumes = table<api::PersistentVolume>().Take();
  const auto volume_claims = table<api::VolumeClaim>().Take();
  const auto storage_classes = table<api::StorageClass>().Take();
  const auto csi_nodes = table<api::CsiNode>().Take();
  const auto pod_groups = table<api::PodGroup>().Take();
  const auto jobs = table<api::TrainingJob>().Take();
  const auto placements = table<api::Placement>().Take();
  const auto learned = table<api::ConfigMap>().Take();
  api::Inputs& inputs = snapshot.inputs;
  NameAccelerators(inputs);
  inputs.knows_volumes = table<api::PersistentVolume>().listed();
  inputs.knows_claims = table<api::VolumeClaim>().listed();
  inputs.knows_classes = table<api::StorageClass>().listed();
  lock.unlock();
  Collect(nodes, inputs.nodes);
  Collect(pods, inputs.pods);
  Collect(jobs, inputs.jobs);
  Collect(placements, inputs.placements);
  Collect(slices, inputs.resource_slices);
  Collect(claims, inputs.resource_claims);
  Collect(templates, inputs.claim_templates);
  Collect(volumes, inputs.volumes);
  Collect(volume_claims, inputs.volume_claims);
  Collect(csi_nodes, inputs.csi_nodes);
  Collect(pod_groups, inputs.pod_groups);
  inputs.storage_classes = Copies<api::StorageClass>(storage_classes);
  inputs.device_classes = Copies<api::DeviceClass>(classes);
  inputs.priority_classes = Copies<api::PriorityClass>(priorities);
  inputs.namespaces = Copies<api::Namespace>(spaces);
  inputs.fabrics = Readable(fabrics);
  learned.Each([&](const auto& map) { inputs.learned_steps = *map; });
  return snapshot;
}

}  // namespace weft::watch
