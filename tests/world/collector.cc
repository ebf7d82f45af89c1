#include "tests/world/collector.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/kube/requests.h"
#include "tests/world/actor.h"
#include "tests/world/quota.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

kube::Request RequestOf(kube::Method method, std::string path, const Json& body) {
  kube::Request request;
  request.method = method;
  request.path = std::move(path);
  request.content_type =
      method == kube::Method::kPatch ? "application/merge-patch+json" : "application/json";
  request.body = api::JsonText(body);
  return request;
}

bool HasFinalizer(const Json& metadata, const char* name) {
  const Json* list = api::FindMember(metadata, "finalizers");
  return list != nullptr && std::find(list->begin(), list->end(), name) != list->end();
}

}  // namespace

struct OwnerLink {
  std::string uid, name, resource;  // resource "": of an unknown kind
  bool blocks = false;
};

struct OwnedItem {
  std::string resource;
  api::ObjectKey key;
  std::vector<OwnerLink> owners;
  bool deleting = false, foreground = false, orphan = false;

  bool waits() const { return deleting && foreground; }  // for its dependents
};

// The graph of owners, kept up to date by the server's changes, and the objects to look at.
struct GarbageCollector::State {
  ApiServer& server;
  std::string user;
  std::uint64_t seen = 0;
  std::map<std::string, OwnedItem> items;  // by uid
  std::map<std::string, std::set<std::string>> dependents;
  std::deque<std::string> queue;
  std::set<std::string> queued;

  void Enqueue(const std::string& uid) {
    if (queued.insert(uid).second) queue.push_back(uid);
  }

  void EnqueueDependents(const std::string& uid) {
    const auto found = dependents.find(uid);
    if (found == dependents.end()) return;
    for (const std::string& each : found->second) Enqueue(each);
  }

  void Forget(const std::string& uid) {
    const auto found = items.find(uid);
    if (found == items.end()) return;
    for (const OwnerLink& owner : found->second.owners) {
      dependents[owner.uid].erase(uid);
      if (dependents[owner.uid].empty()) dependents.erase(owner.uid);
    }
    items.erase(found);
  }

  void See(const std::string& resource, const api::ObjectKey& key, const Json& object, bool gone) {
    const Json& metadata = MetadataOf(object);
    const std::string uid = api::TextAt(metadata, "uid");
    std::vector<std::string> owners_before;
    if (const auto known = items.find(uid); known != items.end()) {
      for (const OwnerLink& owner : known->second.owners) owners_before.push_back(owner.uid);
    }
    Forget(uid);
    for (const std::string& owner : owners_before) Enqueue(owner);
    if (gone) return EnqueueDependents(uid);
    OwnedItem item{resource,
                   key,
                   {},
                   IsDeleting(object),
                   HasFinalizer(metadata, "foregroundDeletion"),
                   HasFinalizer(metadata, "orphan")};
    if (const Json* list = api::FindMember(metadata, "ownerReferences")) {
      for (const Json& owner : *list) {
        item.owners.push_back(
            {api::TextAt(owner, "uid"), api::TextAt(owner, "name"),
             server.ResourceOf(api::TextAt(owner, "apiVersion"), api::TextAt(owner, "kind")),
             owner.value("blockOwnerDeletion", false)});
        dependents[item.owners.back().uid].insert(uid);
      }
    }
    if (item.waits()) EnqueueDependents(uid);
    if (item.waits() || (item.deleting && item.orphan) || !item.owners.empty()) Enqueue(uid);
    items[uid] = std::move(item);
  }

  void Rebuild() {
    items.clear();
    dependents.clear();
    for (const std::string& resource : server.resources()) {
      for (const auto& [key, object] : server.All(resource)) See(resource, key, *object, false);
    }
  }

  void CatchUp() {
    if (server.version() == seen) return;
    const auto changes = server.ChangesAfter(seen);
    const bool complete = changes.size() == server.version() - seen;
    if (complete) {
      for (const auto& change : changes) {
        See(change->resource, change->key, *change->object, change->type == Change::Type::kDeleted);
      }
    } else {
      Rebuild();
    }
    seen = server.version();
  }

  // An owner of an unknown kind counts as there.
  enum class Standing : std::uint8_t { kThere, kGone, kWaits };
  Standing StandingOf(const OwnedItem& item, const OwnerLink& owner) const {
    if (owner.resource.empty()) return Standing::kThere;
    const auto found = items.find(owner.uid);
    if (found == items.end()) return Standing::kGone;
    const OwnedItem& of = found->second;
    const bool reachable = of.key.space.empty() || of.key.space == item.key.space;
    if (!reachable || of.key.name != owner.name || of.resource != owner.resource) {
      return Standing::kGone;
    }
    return of.waits() ? Standing::kWaits : Standing::kThere;
  }

  bool Send(const kube::Request& request, const std::string& uid) {
    const int status = server.Handle(request, user).status;
    if (status >= 300 && status != 404) Enqueue(uid);
    return true;
  }

  Json MetadataOfItem(const OwnedItem& item) const {
    const auto object = server.Find(item.resource, item.key);
    return object ? MetadataOf(*object) : Json::object();
  }

  bool PatchMetadata(const OwnedItem& item, const std::string& uid, Json changed) {
    const Json now = MetadataOfItem(item);
    changed["uid"] = uid;
    changed["resourceVersion"] = now.value("resourceVersion", "");
    return Send(RequestOf(kube::Method::kPatch, server.PathOf(item.resource, item.key),
                          {{"metadata", std::move(changed)}}),
                uid);
  }

  // Keeps the owner references for which `keep` is true.
  template <typename Keep>
  bool DropOwners(const OwnedItem& item, const std::string& uid, Keep keep) {
    Json kept = Json::array();
    for (const Json& owner : MetadataOfItem(item).value("ownerReferences", Json::array())) {
      if (keep(api::TextAt(owner, "uid"))) kept.push_back(owner);
    }
    return PatchMetadata(item, uid, {{"ownerReferences", std::move(kept)}});
  }

  bool DropFinalizer(const OwnedItem& item, const std::string& uid, const char* name) {
    Json kept = Json::array();
    for (const Json& each : MetadataOfItem(item).value("finalizers", Json::array())) {
      if (each != name) kept.push_back(each);
    }
    return PatchMetadata(item, uid, {{"finalizers", std::move(kept)}});
  }

  bool DeleteItem(const OwnedItem& item, const std::string& uid, const char* propagation) {
    const Json body = {{"kind", "DeleteOptions"},
                       {"apiVersion", "v1"},
                       {"propagationPolicy", propagation},
                       {"preconditions", {{"uid", uid}}}};
    return Send(RequestOf(kube::Method::kDelete, server.PathOf(item.resource, item.key), body),
                uid);
  }

  bool OrphanOne(const OwnedItem& item, const std::string& uid) {
    const auto found = dependents.find(uid);
    if (found == dependents.end()) return DropFinalizer(item, uid, "orphan");
    const std::string dependent = *found->second.begin();
    const OwnedItem of = items.at(dependent);
    Enqueue(uid);
    return DropOwners(of, dependent, [&](const std::string& owner) { return owner != uid; });
  }

  // Whether dependents are left that this owner has to wait for.
  bool IsBlocked(const std::string& uid) const {
    const auto found = dependents.find(uid);
    if (found == dependents.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const std::string& each) {
      const std::vector<OwnerLink>& owners = items.at(each).owners;
      return std::any_of(owners.begin(), owners.end(),
                         [&](const OwnerLink& owner) { return owner.uid == uid && owner.blocks; });
    });
  }

  // True if it wrote.
  bool LookAt(const std::string& uid) {
    const auto found = items.find(uid);
    if (found == items.end()) return false;
    const OwnedItem item = found->second;
    if (item.deleting && item.orphan) return OrphanOne(item, uid);
    if (item.waits()) return !IsBlocked(uid) && DropFinalizer(item, uid, "foregroundDeletion");
    if (item.deleting || item.owners.empty()) return false;
    std::set<std::string> there;
    bool waited_for = false;
    for (const OwnerLink& owner : item.owners) {
      const Standing standing = StandingOf(item, owner);
      if (standing == Standing::kThere) there.insert(owner.uid);
      waited_for = waited_for || standing == Standing::kWaits;
    }
    if (there.size() == item.owners.size()) return false;
    if (!there.empty()) {
      return DropOwners(item, uid, [&](const std::string& owner) { return there.contains(owner); });
    }
    const bool has_dependents = dependents.contains(uid);
    if (waited_for && has_dependents) return DeleteItem(item, uid, "Foreground");
    return DeleteItem(item, uid,
                      item.orphan       ? "Orphan"
                      : item.foreground ? "Foreground"
                                        : "Background");
  }
};

GarbageCollector::GarbageCollector(ApiServer& server, std::string user)
    : state_(new State{server, std::move(user), 0, {}, {}, {}, {}}) {}
GarbageCollector::~GarbageCollector() = default;

bool GarbageCollector::Step() {
  state_->CatchUp();
  while (!state_->queue.empty()) {
    const std::string uid = state_->queue.front();
    state_->queue.pop_front();
    state_->queued.erase(uid);
    if (state_->LookAt(uid)) return true;
  }
  return false;
}

NamespaceController::NamespaceController(ApiServer& server, std::string user)
    : server_(server), user_(std::move(user)) {}

bool NamespaceController::Step() {
  if (server_.version() == idle_at_) return false;
  for (const auto& [key, object] : server_.All("namespaces")) {
    if (IsDeleting(*object) && Empty(key.name)) return true;
  }
  idle_at_ = server_.version();
  return false;
}

bool NamespaceController::Empty(const std::string& space) {
  bool left = false;
  for (const std::string& resource : server_.resources()) {
    if (!server_.IsNamespaced(resource)) continue;
    const auto& all = server_.All(resource);
    for (auto i = all.lower_bound({space, ""}); i != all.end() && i->first.space == space; ++i) {
      left = true;
      if (IsDeleting(*i->second)) continue;
      const Json body = {
          {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"propagationPolicy", "Background"}};
      server_.Handle(RequestOf(kube::Method::kDelete, server_.PathOf(resource, i->first), body),
                     user_);
      return true;
    }
  }
  const auto object = server_.Find("namespaces", {"", space});
  if (left || !object->at("spec").contains("finalizers")) return false;
  Json finalized = *object;
  finalized["spec"].erase("finalizers");
  server_.Handle(RequestOf(kube::Method::kPut,
                           server_.PathOf("namespaces", {"", space}, "finalize"), finalized),
                 user_);
  return true;
}

QuotaController::QuotaController(ApiServer& server, std::string user)
    : server_(server), user_(std::move(user)) {}

bool QuotaController::Step() {
  if (server_.version() == idle_at_) return false;
  for (const auto& [key, object] : server_.All("resourcequotas")) {
    const Json status = StatusOf(*object, key.space);
    const Json* now = api::FindMember(*object, "status");
    if (now != nullptr && *now == status) continue;
    Json next = *object;
    next["status"] = status;
    server_.Handle(
        RequestOf(kube::Method::kPut, server_.PathOf("resourcequotas", key, "status"), next),
        user_);
    return true;
  }
  idle_at_ = server_.version();
  return false;
}

Json QuotaController::StatusOf(const Json& quota, const std::string& space) const {
  Json status = Json::object();
  const Json* hard = api::FindMember(quota.at("spec"), "hard");
  if (hard == nullptr) return status;
  Usage total;
  for (const std::string& resource : server_.resources()) {
    const auto& all = server_.All(resource);
    if (!server_.IsNamespaced(resource)) continue;
    for (auto i = all.lower_bound({space, ""}); i != all.end() && i->first.space == space; ++i) {
      for (const auto& [name, amount] : UsageOf(resource, *i->second)) total[name] += amount;
    }
  }
  status["hard"] = *hard;
  for (const auto& [name, limit] : hard->items()) status["used"][name] = AmountText(total[name]);
  return status;
}

PodCollector::PodCollector(ApiServer& server, std::size_t threshold, std::string user)
    : server_(server), threshold_(threshold), user_(std::move(user)) {}

void PodCollector::Look() {
  chosen_.clear();
  if (server_.All("pods").size() <= threshold_) return;
  struct Ended {
    bool stays;  // was not evicted
    std::string created;
    Chosen pod;
  };
  std::vector<Ended> ended;
  for (const auto& [key, pod] : server_.All("pods")) {
    if (!HasEnded(*pod)) continue;
    const Json& metadata = MetadataOf(*pod);
    ended.push_back({TextAt(*pod, {"status", "reason"}) != "Evicted",
                     api::TextAt(metadata, "creationTimestamp"),
                     {key, api::TextAt(metadata, "uid")}});
  }
  if (ended.size() <= threshold_) return;
  std::stable_sort(ended.begin(), ended.end(), [](const Ended& one, const Ended& other) {
    return std::tie(one.stays, one.created) < std::tie(other.stays, other.created);
  });
  ended.resize(ended.size() - threshold_);
  for (Ended& one : ended) chosen_.push_back(std::move(one.pod));
}

bool PodCollector::Step() {
  while (!chosen_.empty()) {
    const Chosen pod = std::move(chosen_.front());
    chosen_.pop_front();
    const auto there = server_.Find("pods", pod.key);
    if (!there || IsDeleting(*there)) continue;  // or only its finalizers keep it
    if (api::TextAt(MetadataOf(*there), "uid") != pod.uid) continue;
    const Json body = {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"gracePeriodSeconds", 0}};
    server_.Handle(RequestOf(kube::Method::kDelete, server_.PathOf("pods", pod.key), body), user_);
    return true;
  }
  return false;
}

}  // namespace weft::world
