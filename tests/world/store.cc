// Objects, versions and the log of changes.
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/check.h"
#include "operator/base/timestamp.h"
#include "tests/world/state.h"

namespace weft::world {

const std::string& Logged::text() const {
  if (text_.empty()) text_ = api::JsonText(*change.object);
  return text_;
}

const Json& MetadataOf(const Json& object) { return object.at("metadata"); }

bool IsDeleting(const Json& object) { return MetadataOf(object).contains("deletionTimestamp"); }

bool HasFinalizers(const Json& object) {
  const Json* list = api::FindMember(MetadataOf(object), "finalizers");
  return list != nullptr && !list->empty();
}

ApiServer::State::State(Options given) : options(std::move(given)), random(options.seed) {
  std::vector<Kind> kinds = BuiltInKinds();
  if (options.pod_groups) kinds.push_back(PodGroupKind());
  for (const Json& definition : options.definitions) kinds.push_back(KindOf(definition));
  for (Kind& kind : kinds) {
    const std::string path = kind.group + "/" + kind.version + "/" + kind.plural;
    Collection& collection = collections[kind.resource];
    collection.kind = std::move(kind);
    by_path[path] = &collection;
  }
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    MakeNamespace(name);
  }
}

void ApiServer::State::MakeNamespace(const std::string& name) {
  Collection& namespaces = *CollectionOf("namespaces");
  Json object = {{"apiVersion", "v1"},
                 {"kind", "Namespace"},
                 {"metadata",
                  {{"name", name},
                   {"uid", NewUid()},
                   {"creationTimestamp", Now()},
                   {"labels", {{"kubernetes.io/metadata.name", name}}}}},
                 {"spec", {{"finalizers", {"kubernetes"}}}},
                 {"status", {{"phase", "Active"}}}};
  Store(namespaces, {"", name}, std::move(object), "system:apiserver");
}

Collection* ApiServer::State::CollectionOf(const std::string& resource) {
  const auto found = collections.find(resource);
  return found == collections.end() ? nullptr : &found->second;
}

const Collection* ApiServer::State::CollectionOf(const std::string& resource) const {
  const auto found = collections.find(resource);
  return found == collections.end() ? nullptr : &found->second;
}

Object ApiServer::State::Find(const std::string& resource, const api::ObjectKey& key) const {
  const Collection* collection = CollectionOf(resource);
  if (collection == nullptr) return nullptr;
  const auto found = collection->objects.find(key);
  return found == collection->objects.end() ? nullptr : found->second;
}

std::string ApiServer::State::NewUid() {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string uid;
  std::uint64_t bits = 0;
  for (int i = 0; i < 32; ++i) {
    if (i % 16 == 0) bits = random.Next();
    if (i == 8 || i == 12 || i == 16 || i == 20) uid += '-';
    uid += i == 12 ? '4' : kDigits[bits & 15U];
    bits >>= 4U;
  }
  return uid;
}

std::string ApiServer::State::Now() const { return FormatTime(options.now_seconds()); }

std::shared_ptr<Logged> ApiServer::State::Store(Collection& collection, const api::ObjectKey& key,
                                                Json object, const std::string& user) {
  auto logged = std::make_shared<Logged>();
  Change& change = logged->change;
  change.version = ++version;
  object["metadata"]["resourceVersion"] = std::to_string(version);
  Object& place = collection.objects[key];
  change.type = place ? Change::Type::kModified : Change::Type::kAdded;
  change.resource = collection.kind.resource;
  change.key = key;
  change.before = std::move(place);
  change.object = std::make_shared<const Json>(std::move(object));
  change.user = user;
  place = change.object;
  collection.last[key] = logged;
  Log(collection, logged);
  return logged;
}

std::shared_ptr<Logged> ApiServer::State::Remove(Collection& collection, const api::ObjectKey& key,
                                                 const std::string& user) {
  const auto found = collection.objects.find(key);
  WEFT_CHECK(found != collection.objects.end());
  auto logged = std::make_shared<Logged>();
  Change& change = logged->change;
  change.version = ++version;
  Json last = *found->second;
  last["metadata"]["resourceVersion"] = std::to_string(version);
  change.type = Change::Type::kDeleted;
  change.resource = collection.kind.resource;
  change.key = key;
  change.before = found->second;
  change.object = std::make_shared<const Json>(std::move(last));
  change.user = user;
  collection.objects.erase(found);
  collection.last.erase(key);
  collection.owners.erase(key);
  Log(collection, logged);
  return logged;
}

void ApiServer::State::Log(Collection& collection, std::shared_ptr<Logged> logged) {
  collection.log.push_back(logged);
  if (collection.log.size() > options.kept_changes) {
    collection.forgotten = collection.log.front()->change.version;
    collection.log.pop_front();
  }
  log.push_back(logged);
  if (log.size() > 2 * options.kept_changes) log.pop_front();
  // What it throws is no wrong request.
  if (on_change) [&]() noexcept { on_change(logged->change); }();
}

std::optional<std::map<api::ObjectKey, std::shared_ptr<Logged>>> ApiServer::State::ObjectsAt(
    const Collection& collection, std::uint64_t at) const {
  if (at < collection.forgotten) return std::nullopt;
  auto objects = collection.last;
  for (auto i = collection.log.rbegin(); i != collection.log.rend(); ++i) {
    const Change& change = (*i)->change;
    if (change.version <= at) break;
    if (change.before) {
      auto earlier = std::make_shared<Logged>();
      earlier->change.object = change.before;
      earlier->change.key = change.key;
      objects[change.key] = std::move(earlier);
    } else {
      objects.erase(change.key);
    }
  }
  return objects;
}

}  // namespace weft::world
