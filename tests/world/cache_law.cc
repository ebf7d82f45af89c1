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

void Append(std::string& text, std::string_view value) { text += value; }
void Append(std::string& text, std::int64_t value) { text += std::to_string(value); }

// What decisions read of a pod, as text.
std::string MembersOf(const api::Pod& pod) {
  std::string all;
  const auto add = [&all](std::string_view name, const auto&... values) {
    all += name;
    (((all += ' '), Append(all, values)), ...);
    all += "; ";
  };
  add("unreadable", pod.unreadable);
  add("node", pod.node_name);
  add("phase", api::PodPhaseName(pod.phase));
  add("deleting", pod.meta.deleting);
  add("generation", pod.meta.generation);
  add("created", pod.meta.creation_timestamp);
  for (const std::string& gate : pod.scheduling_gates) add("gate", gate);
  add("class", pod.priority_class_name);
  add("group", pod.pod_group);
  add("reason", pod.reason);
  add("nominated", pod.nominated_node);
  add("bound", pod.bound);
  add("ready", pod.ready);
  add("sandbox", pod.has_sandbox);
  add("disrupted", pod.disrupted);
  add("unscheduled", pod.unscheduled);
  add("waiting", pod.waiting);
  add("report", pod.report);
  if (const auto& failure = pod.failure) {
    add("failure", failure->container, failure->reason, failure->exit_code, failure->message,
        failure->ended);
  }
  for (const auto& one : pod.exits) add("exit", one.container, one.code);
  for (const auto& one : pod.conditions) add("condition", one.type, one.status, one.reason);
  for (const auto& [key, value] : pod.meta.labels) add("label", key, value);
  for (const auto& [key, value] : pod.meta.annotations) add("annotation", key, value);
  for (const auto& one : pod.meta.owners) add("owner", one.kind, one.uid);
  return all;
}

ReadObjects::Pod ReadPod(const std::shared_ptr<const Json>& object) {
  const auto pod = api::DecodePod(*object, "Pod");
  if (!pod) return {object, "", ""};
  return {object, pod->meta.resource_version, MembersOf(*pod)};
}

ReadObjects::Node ReadNode(const std::shared_ptr<const Json>& object) {
  auto node = api::DecodeNode(*object, "Node");
  if (!node) return {object, std::nullopt};
  return {object, std::move(node->facts)};
}

// What `read` makes of an object, or what it made of the same one at the last look.
template <typename Read, typename Reading>
const Read& ReadOnce(const api::ObjectKey& key, const std::shared_ptr<const Json>& object,
                     const std::map<api::ObjectKey, Read>& last,
                     std::map<api::ObjectKey, Read>& now, const Reading& read) {
  const auto found = last.find(key);
  const bool same = found != last.end() && found->second.object == object;
  return now.emplace(key, same ? found->second : read(object)).first->second;
}

// What the server has, read by the operator's own decoder, is what the leader has.
void CompareMembers(ApiServer& server, const api::Inputs& inputs, ReadObjects& read,
                    std::set<std::string>& differ) {
  const ReadObjects last = std::exchange(read, {});
  for (const api::Pod& known : inputs.pods) {
    const api::ObjectKey& key = known.meta.key;
    const auto there = server.Find("pods", key);
    if (!there || !known.unreadable.empty()) continue;
    const auto& pod = ReadOnce(key, there, last.pods, read.pods, ReadPod);
    if (pod.version != known.meta.resource_version) continue;
    const std::string was = MembersOf(known);
    if (pod.members != was) {
      differ.insert("pod " + api::Show(key) + " is " + pod.members + ", the leader has " + was);
    }
  }
  for (const api::Node& known : inputs.nodes) {
    const api::ObjectKey& key = known.meta.key;
    const auto there = server.Find("nodes", key);
    if (!there || !known.unreadable.empty()) continue;
    const auto& facts = ReadOnce(key, there, last.nodes, read.nodes, ReadNode).facts;
    if (facts && !(*facts == known.facts)) {
      differ.insert("node " + key.name + " is at " +
                    TextAt(*there, {"metadata", "resourceVersion"}) +
                    ", the leader has other facts of it");
    }
  }
}

bool IsRead(const Json&) { return true; }

bool IsOfAJob(const Json& service) { return !LabelOf(service, "weft.dev/job-uid").empty(); }

std::set<std::string> Differences(ApiServer& server, const watch::ClusterWatch& cluster,
                                  const watch::Store& store, ReadObjects& read) {
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
  CompareMembers(server, inputs, read, differ);
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
       Differences(server_, work->cluster(), work->cluster().store(), read_)) {
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
                 Differences(server_, work->cluster(), work->cluster().store(), read_)};
  cache_look_.differ.merge(Forgotten(server_, work->planner()));
  if (kueue_) cache_look_.differ.merge(kueue_->OldAssignments());
  if (before.leader != leader->identity()) return;
  for (const std::string& one : cache_look_.differ) {
    if (before.differ.contains(one)) laws_.Break("I16", one + " for two minutes");
  }
}

}  // namespace weft::world
