#include "tests/world/api_server.h"

#include <utility>

#include "operator/base/check.h"
#include "operator/kube/resource.h"
#include "tests/world/state.h"

namespace weft::world {

ApiServer::ApiServer(Options options) : state_(std::make_unique<State>(std::move(options))) {}
ApiServer::~ApiServer() = default;

kube::Response ApiServer::Handle(const kube::Request& request, const std::string& user) {
  // A value of an unexpected type cannot be decoded into the types of built-in kinds.
  try {
    return state_->Handle(request, user);
  } catch (const Json::exception& error) {
    return BadRequest(std::string("json: cannot unmarshal: ") + error.what());
  }
}

ApiServer::Opened ApiServer::Open(const kube::Request& request, const std::string& user) {
  return state_->Open(request, user);
}

void ApiServer::SetAdmission(Admission admission) { state_->admission = std::move(admission); }

void ApiServer::SetValidation(Admission validation) { state_->validation = std::move(validation); }

void ApiServer::SetRights(const std::string& user, const std::vector<Json>& rules) {
  state_->rights.insert_or_assign(user, Rbac(rules));
}

bool ApiServer::MayDo(const std::string& user, const std::string& verb, const std::string& resource,
                      const std::string& subresource, const std::string& space) const {
  Collection* collection = state_->CollectionOf(resource);
  WEFT_CHECK(collection != nullptr);
  return state_->MayDo(user, verb, {collection, {space, ""}, subresource});
}

void ApiServer::SetQuotaConflicts(int count) { state_->quota_conflicts = count; }

void ApiServer::SetGroupGate(GroupGate gate) { state_->group_gate = gate; }

void ApiServer::SetOnChange(std::function<void(const Change&)> on_change) {
  state_->on_change = std::move(on_change);
}

std::uint64_t ApiServer::version() const { return state_->version; }

Object ApiServer::Find(const std::string& resource, const api::ObjectKey& key) const {
  return state_->Find(resource, key);
}

const std::map<api::ObjectKey, Object>& ApiServer::All(const std::string& resource) const {
  static const std::map<api::ObjectKey, Object> nothing;
  const Collection* collection = state_->CollectionOf(resource);
  return collection == nullptr ? nothing : collection->objects;
}

std::vector<std::shared_ptr<const Change>> ApiServer::ChangesAfter(std::uint64_t version) const {
  std::vector<std::shared_ptr<const Change>> changes;
  auto i = state_->log.end();
  while (i != state_->log.begin() && (*std::prev(i))->change.version > version) --i;
  for (; i != state_->log.end(); ++i) changes.emplace_back(*i, &(*i)->change);
  return changes;
}

std::vector<std::string> ApiServer::resources() const {
  std::vector<std::string> names;
  for (const auto& [resource, collection] : state_->collections) names.push_back(resource);
  return names;
}

bool ApiServer::IsNamespaced(const std::string& resource) const {
  const Collection* collection = state_->CollectionOf(resource);
  return collection != nullptr && collection->kind.namespaced;
}

std::string ApiServer::PathOf(const std::string& resource, const api::ObjectKey& key,
                              const std::string& subresource) const {
  const Collection* collection = state_->CollectionOf(resource);
  WEFT_CHECK(collection != nullptr);
  const Kind& kind = collection->kind;
  return kube::PathOf({kind.group, kind.version, kind.plural, kind.kind, kind.namespaced}, key,
                      subresource);
}

std::string ApiServer::ResourceOf(const std::string& api_version, const std::string& kind) const {
  for (const auto& [resource, collection] : state_->collections) {
    const bool same = collection.kind.kind == kind && collection.kind.api_version() == api_version;
    if (same) return resource;
  }
  return "";
}

void ApiServer::Compact() {
  for (auto& [resource, collection] : state_->collections) {
    collection.log.clear();
    collection.forgotten = state_->version;
  }
}

std::uint64_t ApiServer::Checkpoint() {
  auto& saved = state_->checkpoints[state_->version];
  for (const auto& [resource, collection] : state_->collections) {
    saved[resource] = {collection.objects, collection.owners};
  }
  return state_->version;
}

// Versions go on above those that clients have seen, and every older watch ends, as after
// `etcdutl snapshot restore --bump-revision --mark-compacted`.
void ApiServer::Restore(std::uint64_t checkpoint) {
  const auto saved = state_->checkpoints.find(checkpoint);
  WEFT_CHECK(saved != state_->checkpoints.end());
  const std::uint64_t version = ++state_->version;
  for (auto& [resource, collection] : state_->collections) {
    const State::Saved& from = saved->second.at(resource);
    collection.objects = from.objects;
    collection.owners = from.owners;
    collection.last.clear();
    for (const auto& [key, object] : from.objects) {
      auto logged = std::make_shared<Logged>();
      logged->change.object = object;
      logged->change.key = key;
      collection.last[key] = std::move(logged);
    }
    collection.log.clear();
    collection.forgotten = version;
  }
  state_->log.clear();
}

}  // namespace weft::world
