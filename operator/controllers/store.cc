#include "operator/controllers/store.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/decide/cluster.h"

namespace weft::controllers {
namespace {

// A node of which nothing is known is not lost.
bool IsReady(const api::Node& node) {
  if (!node.unreadable.empty()) return true;
  return std::any_of(node.facts.conditions.begin(), node.facts.conditions.end(),
                     [](const auto& c) { return c.type == "Ready" && c.status == "True"; });
}

// Whether two states of a pod take the same from the cluster.
bool HoldAlike(const api::Pod& a, const api::Pod& b) {
  return a.node_name == b.node_name && a.Holds() == b.Holds() && a.pod.requests == b.pod.requests &&
         a.scheduling_gates == b.scheduling_gates && a.meta.labels == b.meta.labels;
}

// What an unreadable state still tells, on top of the last one that could be read.
api::Pod Onto(const api::Pod& before, const api::Pod& unreadable) {
  api::Pod pod = before;
  pod.meta.resource_version = unreadable.meta.resource_version;
  pod.meta.deleting = unreadable.meta.deleting;
  pod.meta.deletion_timestamp = unreadable.meta.deletion_timestamp;
  pod.node_name = unreadable.node_name;
  pod.phase = unreadable.phase;
  return pod;
}

template <typename T>
std::vector<T> Copies(const Table<T>& table) {
  std::vector<T> copies;
  copies.reserve(table.objects().size());
  for (const auto& [key, object] : table.objects()) copies.push_back(*object);
  return copies;
}

template <typename T>
void Collect(const Table<T>& table, const std::map<std::string, std::set<api::ObjectKey>>& index,
             const std::string& uid, std::vector<std::shared_ptr<const T>>& objects) {
  const auto keys = index.find(uid);
  if (keys == index.end()) return;
  for (const api::ObjectKey& key : keys->second) objects.push_back(table.Find(key));
}

void Unindex(std::map<std::string, std::set<api::ObjectKey>>& index, const api::ObjectMeta& meta) {
  const auto owner = OwningJob(meta);
  if (!owner) return;
  const auto keys = index.find(owner->uid);
  if (keys == index.end()) return;
  keys->second.erase(meta.key);
  if (keys->second.empty()) index.erase(keys);
}

}  // namespace

std::optional<api::OwnerReference> OwningJob(const api::ObjectMeta& meta) {
  for (const api::OwnerReference& owner : meta.owners) {
    if (owner.controller && owner.kind == "TrainingJob" &&
        owner.api_version.starts_with(std::string(api::kGroup) + "/")) {
      return owner;
    }
  }
  return std::nullopt;
}

void Store::Put(api::Node node) {
  const std::string name = node.meta.key.name;
  bool health = false, planned = false;
  {
    const std::lock_guard lock(mutex_);
    NodeEntry& entry = nodes_[name];
    if (!node.unreadable.empty() && entry.node) return;  // what was read stays
    const bool was_ready = entry.node && IsReady(*entry.node), ready = IsReady(node);
    health = !entry.node || was_ready != ready;
    planned = !entry.node || !(entry.node->facts == node.facts);
    if (ready) entry.not_ready_since.reset();
    if (!ready && !entry.not_ready_since) entry.not_ready_since = now_();
    if (!planned) return;  // a heartbeat
    entry.node = std::make_shared<const api::Node>(std::move(node));
    ++fabric_changes_;
  }
  if (health) TellJobsOn(name);
  TellFabric();
}

void Store::RemoveNode(const api::ObjectKey& key) {
  {
    const std::lock_guard lock(mutex_);
    nodes_.erase(key.name);
    ++fabric_changes_;
  }
  TellJobsOn(key.name);
  TellFabric();
}

void Store::Put(api::Pod pod) {
  api::ObjectMeta meta = pod.meta;
  std::optional<api::ObjectMeta> relabelled;  // as it was
  bool planned = false;
  {
    const std::lock_guard lock(mutex_);
    const auto known = pods_.Find(meta.key);
    if (!pod.unreadable.empty() && known && known->meta.uid == meta.uid) {
      pod = Onto(*known, pod);
      meta = pod.meta;
    }
    auto object = std::make_shared<const api::Pod>(std::move(pod));
    const auto [before, replaced] = pods_.Put(object);
    if (!replaced) return;
    planned = !before || !HoldAlike(*before, *object);
    if (before) Unindex(pods_of_, before->meta);
    if (before && before->meta.labels != meta.labels) relabelled = before->meta;
    if (const auto owner = OwningJob(meta)) pods_of_[owner->uid].insert(meta.key);
  }
  TellJob(meta);
  TellPlacementsOf(meta);
  if (relabelled) TellPlacementsOf(*relabelled);
  if (planned) hooks_.on_capacity();
}

void Store::RemovePod(const api::ObjectKey& key) {
  std::shared_ptr<const api::Pod> before;
  {
    const std::lock_guard lock(mutex_);
    before = pods_.Remove(key);
    if (before) Unindex(pods_of_, before->meta);
  }
  if (!before) return;
  TellJob(before->meta);
  TellPlacementsOf(before->meta);
  if (before->Holds() || !before->scheduling_gates.empty()) hooks_.on_capacity();
}

void Store::Put(api::TrainingJob job) {
  const api::ObjectKey key = job.meta.key;
  {
    const std::lock_guard lock(mutex_);
    if (!jobs_.Put(std::make_shared<const api::TrainingJob>(std::move(job))).second) return;
  }
  hooks_.on_job(key);
}

void Store::RemoveJob(const api::ObjectKey& key) {
  if (Seeded(Bug::kLeak)) new std::string(std::size_t{4} << 20, 'x');
  {
    const std::lock_guard lock(mutex_);
    jobs_.Remove(key);
  }
  hooks_.on_job(key);
  hooks_.on_capacity();
}

void Store::Put(api::Placement placement) {
  const api::ObjectMeta meta = placement.meta;
  const bool selects = placement.pod_selector && !OwningJob(meta);
  {
    const std::lock_guard lock(mutex_);
    const auto [before, replaced] =
        placements_.Put(std::make_shared<const api::Placement>(std::move(placement)));
    if (!replaced) return;
    if (before) Unindex(placements_of_, before->meta);
    if (const auto owner = OwningJob(meta)) placements_of_[owner->uid].insert(meta.key);
    if (selects) selecting_.insert(meta.key);
  }
  TellJob(meta);
  if (!OwningJob(meta)) hooks_.on_placement(meta.key);
  hooks_.on_decision(meta.key);
  hooks_.on_capacity();
}

void Store::RemovePlacement(const api::ObjectKey& key) {
  std::shared_ptr<const api::Placement> before;
  {
    const std::lock_guard lock(mutex_);
    before = placements_.Remove(key);
    selecting_.erase(key);
    if (before) Unindex(placements_of_, before->meta);
  }
  if (!before) return;
  TellJob(before->meta);
  hooks_.on_decision(key);
  hooks_.on_capacity();
}

template <typename T>
void Store::PutPlanned(Table<T>& table, T object) {
  {
    const std::lock_guard lock(mutex_);
    if (!table.Put(std::make_shared<const T>(std::move(object))).second) return;
  }
  hooks_.on_capacity();
}

template <typename T>
void Store::RemovePlanned(Table<T>& table, const api::ObjectKey& key) {
  {
    const std::lock_guard lock(mutex_);
    if (!table.Remove(key)) return;
  }
  hooks_.on_capacity();
}

// Its status is for people: no plan reads it.
void Store::Put(api::Fabric fabric) {
  {
    const std::lock_guard lock(mutex_);
    const auto object = std::make_shared<const api::Fabric>(std::move(fabric));
    const auto [before, replaced] = fabrics_.Put(object);
    if (!replaced) return;
    const bool same = before && before->meta.uid == object->meta.uid &&
                      before->meta.generation == object->meta.generation &&
                      before->unreadable == object->unreadable;
    if (same) return;
    ++fabric_changes_;
  }
  TellFabric();
}
void Store::Put(api::PriorityClass priority) { PutPlanned(priorities_, std::move(priority)); }
void Store::Put(api::Namespace space) { PutPlanned(namespaces_, std::move(space)); }
void Store::RemoveFabric(const api::ObjectKey& key) {
  {
    const std::lock_guard lock(mutex_);
    if (!fabrics_.Remove(key)) return;
    ++fabric_changes_;
  }
  TellFabric();
}

std::vector<std::shared_ptr<const api::Fabric>> Store::UnreadableFabrics() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const api::Fabric>> all;
  for (const auto& [key, fabric] : fabrics_.objects()) {
    if (!fabric->unreadable.empty()) all.push_back(fabric);
  }
  return all;
}

void Store::TellFabric() const {
  hooks_.on_fabric();
  hooks_.on_capacity();
}
void Store::RemovePriorityClass(const api::ObjectKey& key) { RemovePlanned(priorities_, key); }
void Store::RemoveNamespace(const api::ObjectKey& key) { RemovePlanned(namespaces_, key); }

void Store::Put(Service service) {
  const api::ObjectMeta meta = service.meta;
  {
    const std::lock_guard lock(mutex_);
    services_.Put(std::make_shared<const Service>(std::move(service)));
  }
  TellJob(meta);
}

void Store::RemoveService(const api::ObjectKey& key) {
  std::shared_ptr<const Service> before;
  {
    const std::lock_guard lock(mutex_);
    before = services_.Remove(key);
  }
  if (before) TellJob(before->meta);
}

void Store::TellJob(const api::ObjectMeta& owned) const {
  if (const auto owner = OwningJob(owned)) hooks_.on_job({owned.key.space, owner->name});
}

void Store::TellJobsOn(const std::string& node) const {
  std::set<api::ObjectKey> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [uid, keys] : pods_of_) {
      for (const api::ObjectKey& key : keys) {
        const auto pod = pods_.Find(key);
        if (!pod || pod->node_name != node) continue;
        jobs.insert({key.space, OwningJob(pod->meta)->name});
        break;
      }
    }
  }
  for (const api::ObjectKey& job : jobs) hooks_.on_job(job);
}

// Of the Placements that select it: few, beside the pods.
void Store::TellPlacementsOf(const api::ObjectMeta& pod) const {
  if (OwningJob(pod)) return;
  std::vector<api::ObjectKey> placements;
  {
    const std::lock_guard lock(mutex_);
    for (auto key = selecting_.lower_bound({pod.key.space, ""});
         key != selecting_.end() && key->space == pod.key.space; ++key) {
      const auto placement = placements_.Find(*key);
      if (!placement || !placement->pod_selector) continue;
      if (decide::MatchesLabels(*placement->pod_selector, pod.labels)) placements.push_back(*key);
    }
  }
  for (const api::ObjectKey& placement : placements) hooks_.on_placement(placement);
}

decide::NodeState Store::StateOfNode(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return StateOf(node);
}

decide::NodeState Store::StateOf(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {false, std::nullopt};
  return {true, found->second.not_ready_since};
}

// Of the kinds that answers to our own writes put here; the others come from the watch alone.
template <typename T>
std::vector<api::ObjectKey> Store::HeldUpTo(const std::string& resource_version) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t version = VersionOf(resource_version);
  if constexpr (std::is_same_v<T, api::Pod>) return pods_.UpTo(version);
  if constexpr (std::is_same_v<T, api::TrainingJob>) return jobs_.UpTo(version);
  if constexpr (std::is_same_v<T, api::Placement>) return placements_.UpTo(version);
  if constexpr (std::is_same_v<T, Service>) return services_.UpTo(version);
  return {};
}
template std::vector<api::ObjectKey> Store::HeldUpTo<api::Node>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::Pod>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::PriorityClass>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::Namespace>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::Fabric>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::TrainingJob>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<api::Placement>(const std::string&) const;
template std::vector<api::ObjectKey> Store::HeldUpTo<Service>(const std::string&) const;

std::optional<JobObjects> Store::ObjectsOf(const api::ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  JobObjects objects;
  objects.job = jobs_.Find(key);
  if (!objects.job) return std::nullopt;
  const std::string& uid = objects.job->meta.uid;
  Collect(placements_, placements_of_, uid, objects.placements);
  Collect(pods_, pods_of_, uid, objects.pods);
  const auto service = services_.Find(key);
  const auto owner = service ? OwningJob(service->meta) : std::nullopt;
  if (owner && owner->uid == uid) objects.service = service;
  bool unbound = false;
  for (const auto& pod : objects.pods) {
    unbound = unbound || pod->node_name.empty();
    if (!pod->node_name.empty()) objects.nodes.emplace(pod->node_name, StateOf(pod->node_name));
  }
  for (const auto& placement : objects.placements) {
    if (!unbound) break;  // then nobody asks
    for (const std::string& node : placement->nodes) objects.nodes.emplace(node, StateOf(node));
  }
  return objects;
}

std::shared_ptr<const api::Placement> Store::PlacementAt(const api::ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  return placements_.Find(key);
}

std::vector<std::shared_ptr<const api::Pod>> Store::PodsOf(const api::Placement& placement) const {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  if (!placement.pod_selector) return pods;
  const std::string& space = placement.meta.key.space;
  const std::lock_guard lock(mutex_);
  const auto& all = pods_.objects();
  for (auto pod = all.lower_bound({space, ""}); pod != all.end() && pod->first.space == space;
       ++pod) {
    const api::ObjectMeta& meta = pod->second->meta;
    const bool selected = decide::MatchesLabels(*placement.pod_selector, meta.labels);
    if (selected && !OwningJob(meta)) pods.push_back(pod->second);
  }
  return pods;
}

Store::Picture Store::Look() const {
  const std::lock_guard lock(mutex_);
  Picture picture;
  picture.fabrics = fabric_changes_;
  api::Inputs& inputs = picture.inputs;
  inputs.nodes.reserve(nodes_.size());
  for (const auto& [name, entry] : nodes_) inputs.nodes.push_back(entry.node);
  inputs.pods.reserve(pods_.objects().size());
  for (const auto& [key, pod] : pods_.objects()) inputs.pods.push_back(pod);
  inputs.priority_classes = Copies(priorities_);
  inputs.namespaces = Copies(namespaces_);
  inputs.fabrics = Copies(fabrics_);
  std::erase_if(inputs.fabrics, [](const api::Fabric& one) { return !one.unreadable.empty(); });
  inputs.jobs = Copies(jobs_);
  inputs.placements = Copies(placements_);
  return picture;
}

}  // namespace weft::controllers
