// The law of caches: the leader knows what the API server has.

#include <limits>

#include "operator/api/decode.h"
#include "operator/life/kueue_check.h"
#include "operator/watch/cluster_watch.h"
#include "tests/world/pod_groups.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

constexpr std::chrono::seconds kBetweenCopies{120};

// "pods team-a/job-1-0: 17, the leader has 12": what differs between the server and `known`.
// `versions`: also objects of another version.
template <typename Known>
void Compare(ApiServer& server, const char* resource, const Known& known, bool versions,
             std::set<std::string>& differ) {
  std::map<api::ObjectKey, std::pair<std::string, std::string>> left;  // version and uid
  for (const auto& one : known) {
    left[one.meta.key] = {one.meta.resource_version, one.meta.uid};
  }
  for (const auto& [key, object] : server.All(resource)) {
    const auto found = left.find(key);
    const std::string name = std::string(resource) + " " + api::Show(key);
    const std::string version = TextAt(*object, {"metadata", "resourceVersion"});
    const bool other = found != left.end() && !found->second.second.empty() &&
                       found->second.second != UidOf(*object);
    if (found == left.end() ? versions : other || (versions && found->second.first != version)) {
      differ.insert(name + " is " + version + ", the leader has " +
                    (found == left.end() ? "none" : found->second.first));
    }
    if (found != left.end()) left.erase(found);
  }
  for (const auto& [key, one] : left) {
    differ.insert(std::string(resource) + " " + api::Show(key) + " is gone, the leader has " +
                  one.first);
  }
}

// Kinds of which the store gives no list.
template <typename T>
void CompareStored(ApiServer& server, const char* resource, const watch::Store& store,
                   bool (*is_read)(const Json&), std::set<std::string>& differ) {
  const std::string latest = std::to_string(std::numeric_limits<std::int64_t>::max());
  for (const api::ObjectKey& key : store.HeldUpTo<T>(latest)) {
    const auto there = server.Find(resource, key);
    if (there && is_read(*there)) continue;
    differ.insert(std::string(resource) + " " + api::Show(key) + " is gone, the leader has it");
  }
  for (const auto& [key, object] : server.All(resource)) {
    if (!is_read(*object)) continue;
    const auto known = store.At<T>(key);
    const std::string version = TextAt(*object, {"metadata", "resourceVersion"});
    if (known && known->meta.resource_version == version) continue;
    differ.insert(std::string(resource) + " " + api::Show(key) + " is " + version +
                  ", the leader has " + (known ? known->meta.resource_version : "none"));
  }
}

// What decisions read of a pod.
std::string MembersOf(const api::Pod& pod) {
  Json all = {{"unreadable", pod.unreadable},
              {"node", pod.node_name},
              {"phase", api::PodPhaseName(pod.phase)},
              {"deleting", pod.meta.deleting},
              {"generation", pod.meta.generation},
              {"created", pod.meta.creation_timestamp},
              {"gates", pod.scheduling_gates},
              {"class", pod.priority_class_name},
              {"group", pod.pod_group},
              {"reason", pod.reason},
              {"nominated", pod.nominated_node},
              {"bound", pod.bound},
              {"ready", pod.ready},
              {"sandbox", pod.has_sandbox},
              {"disrupted", pod.disrupted},
              {"unscheduled", pod.unscheduled},
              {"waiting", pod.waiting},
              {"report", pod.report}};
  if (pod.failure) {
    all["failure"] = {pod.failure->container, pod.failure->reason, pod.failure->exit_code,
                      pod.failure->message, pod.failure->ended};
  }
  for (const auto& one : pod.exits) all["exits"].push_back({one.container, one.code});
  for (const auto& one : pod.conditions) {
    all["conditions"].push_back({one.type, one.status, one.reason});
  }
  for (const auto& [key, value] : pod.meta.labels) all["labels"][std::string(key)] = value;
  for (const auto& [key, value] : pod.meta.annotations) {
    all["annotations"][std::string(key)] = value;
  }
  for (const auto& one : pod.meta.owners) all["owners"].push_back({one.kind, one.uid});
  return all.dump();
}

ReadPod Read(const std::shared_ptr<const Json>& object) {
  const auto pod = api::DecodePod(*object, "Pod");
  if (!pod) return {object, "", ""};
  return {object, pod->meta.resource_version, MembersOf(*pod)};
}

// What the server has, read by the operator's own decoder, is what the leader has.
// `pods`: those that were read at the last look, whose objects are often the same.
void CompareMembers(ApiServer& server, const api::Inputs& inputs, ReadPods& pods,
                    std::set<std::string>& differ) {
  const ReadPods before = std::exchange(pods, {});
  for (const api::Pod& known : inputs.pods) {
    const auto there = server.Find("pods", known.meta.key);
    if (!there || !known.unreadable.empty()) continue;
    const auto found = before.find(known.meta.key);
    const bool same = found != before.end() && found->second.object == there;
    const ReadPod& pod =
        pods.emplace(known.meta.key, same ? found->second : Read(there)).first->second;
    if (pod.version != known.meta.resource_version) continue;
    const std::string was = MembersOf(known);
    if (pod.members != was) {
      differ.insert("pod " + api::Show(known.meta.key) + " is " + pod.members +
                    ", the leader has " + was);
    }
  }
  for (const api::Node& known : inputs.nodes) {
    const auto there = server.Find("nodes", known.meta.key);
    if (!there || !known.unreadable.empty()) continue;
    const auto read = api::DecodeNode(*there, "Node");
    if (read && !(read->facts == known.facts)) {
      differ.insert("node " + known.meta.key.name + " is at " +
                    TextAt(*there, {"metadata", "resourceVersion"}) +
                    ", the leader has other facts of it");
    }
  }
}

bool IsRead(const Json&) { return true; }

bool IsOfAJob(const Json& service) { return !LabelOf(service, "weft.dev/job-uid").empty(); }

std::set<std::string> Differences(ApiServer& server, const watch::ClusterWatch& cluster,
                                  const watch::Store& store, ReadPods& pods) {
  const api::Inputs inputs = cluster.TakeSnapshot().inputs;
  std::set<std::string> differ;
  Compare(server, "trainingjobs.weft.dev", inputs.jobs, true, differ);
  Compare(server, "placements.weft.dev", inputs.placements, true, differ);
  Compare(server, "pods", inputs.pods, true, differ);
  Compare(server, "nodes", inputs.nodes, false, differ);  // most changes change no fact
  Compare(server, kPodGroupResource, inputs.pod_groups, true, differ);
  Compare(server, "fabrics.weft.dev", inputs.fabrics, true, differ);
  Compare(server, "namespaces", inputs.namespaces, true, differ);
  Compare(server, "priorityclasses.scheduling.k8s.io", inputs.priority_classes, true, differ);
  CompareMembers(server, inputs, pods, differ);
  CompareStored<watch::Service>(server, "services", store, IsOfAJob, differ);
  if (cluster.KueueSynced()) {
    CompareStored<api::Workload>(server, "workloads.kueue.x-k8s.io", store, IsRead, differ);
    CompareStored<api::ResourceFlavor>(server, "resourceflavors.kueue.x-k8s.io", store, IsRead,
                                       differ);
    CompareStored<api::AdmissionCheck>(server, "admissionchecks.kueue.x-k8s.io", store, IsRead,
                                       differ);
  }
  return differ;
}

// Whom the planner remembers although it is gone.
std::set<std::string> Forgotten(ApiServer& server, const controllers::Planner& planner) {
  std::set<std::string> left = planner.Requesters();
  for (const char* resource : {"trainingjobs.weft.dev", "placements.weft.dev"}) {
    for (const auto& [key, object] : server.All(resource)) left.erase(UidOf(*object));
  }
  for (const auto& [key, object] : server.All("workloads.kueue.x-k8s.io")) {
    const auto workload = api::DecodeWorkload(*object, "Workload");
    if (workload) left.erase(life::ReservationOf(*workload));
  }
  std::set<std::string> told;
  for (const std::string& id : left) told.insert("the planner remembers " + id + ", which is gone");
  return told;
}

}  // namespace

// At rest.
void World::LookAtCaches() {
  Incarnation* leader = Leader();
  const auto work = leader == nullptr ? nullptr : leader->replica().Working();
  if (!work) return laws_.Break("I6", "nobody leads");
  for (const std::string& one :
       Differences(server_, work->cluster(), work->cluster().store(), read_pods_)) {
    laws_.Break("I16", one);
  }
}

// What differs in the same way at two looks in a row, with nothing in between that would explain
// it.
void World::LookAtCachesByDay() {
  if (over_) return;
  fibers_.After(kBetweenCopies, [this] { LookAtCachesByDay(); });
  const CacheLook before = std::exchange(cache_look_, {});
  Incarnation* leader = Leader();
  const auto work = leader == nullptr ? nullptr : leader->replica().Working();
  if (!work || !work->cluster().Synced() || fibers_.now() < hard_until_) return;
  cache_look_ = {leader->identity(), fibers_.now(),
                 Differences(server_, work->cluster(), work->cluster().store(), read_pods_)};
  cache_look_.differ.merge(Forgotten(server_, work->planner()));
  if (kueue_) cache_look_.differ.merge(kueue_->OldAssignments());
  if (before.leader != leader->identity()) return;
  for (const std::string& one : cache_look_.differ) {
    if (before.differ.contains(one)) laws_.Break("I16", one + " for two minutes");
  }
}

}  // namespace weft::world
