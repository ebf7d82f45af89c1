// The law of caches: the leader knows what the API server has.

#include "operator/api/decode.h"
#include "operator/life/kueue_check.h"
#include "tests/world/pod_groups.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

constexpr std::chrono::seconds kBetweenLooks{120};

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

std::set<std::string> Differences(ApiServer& server, const api::Inputs& inputs) {
  std::set<std::string> differ;
  Compare(server, "trainingjobs.weft.dev", inputs.jobs, true, differ);
  Compare(server, "placements.weft.dev", inputs.placements, true, differ);
  // It keeps only changes of them that count.
  Compare(server, "pods", inputs.pods, false, differ);
  Compare(server, "nodes", inputs.nodes, false, differ);
  Compare(server, kPodGroupResource, inputs.pod_groups, false, differ);
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
  for (const std::string& one : Differences(server_, work->cluster().TakeSnapshot().inputs)) {
    laws_.Break("I16", one);
  }
}

// What differs in the same way at two looks in a row, with nothing in between that would explain
// it.
void World::LookAtCachesByDay() {
  if (over_) return;
  fibers_.After(kBetweenLooks, [this] { LookAtCachesByDay(); });
  const CacheLook before = std::exchange(cache_look_, {});
  Incarnation* leader = Leader();
  const auto work = leader == nullptr ? nullptr : leader->replica().Working();
  if (!work || !work->cluster().Synced() || fibers_.now() < hard_until_) return;
  cache_look_ = {leader->identity(), fibers_.now(),
                 Differences(server_, work->cluster().TakeSnapshot().inputs)};
  cache_look_.differ.merge(Forgotten(server_, work->planner()));
  if (kueue_) cache_look_.differ.merge(kueue_->OldAssignments());
  if (before.leader != leader->identity()) return;
  for (const std::string& one : cache_look_.differ) {
    if (before.differ.contains(one)) laws_.Break("I16", one + " for two minutes");
  }
}

}  // namespace weft::world
