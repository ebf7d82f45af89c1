// DELETE, evictions and the end of namespaces.
#include <algorithm>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/timestamp.h"
#include "tests/world/metadata.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

std::optional<DeleteOptions> OptionsOf(const kube::Request& request, const Json& body) {
  DeleteOptions options;
  const auto query = [&](const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string() : found->second;
  };
  options.propagation = query("propagationPolicy");
  const std::string grace = query("gracePeriodSeconds");
  if (!grace.empty()) options.grace = std::atoll(grace.c_str());
  if (body.is_null()) return options;
  if (!body.is_object()) return std::nullopt;
  if (const auto text = api::TextAt(body, "propagationPolicy"); !text.empty()) {
    options.propagation = text;
  }
  if (const Json* wanted = api::FindMember(body, "gracePeriodSeconds")) {
    if (wanted->is_number_integer()) options.grace = wanted->get<std::int64_t>();
  }
  if (const Json* only = api::FindMember(body, "preconditions")) {
    options.uid = api::TextAt(*only, "uid");
    options.resource_version = api::TextAt(*only, "resourceVersion");
  }
  return options;
}

// The finalizers by which the garbage collector finds its work.
void SetCollectorFinalizers(const DeleteOptions& options, Json& metadata) {
  if (options.propagation.empty()) return;
  Json kept = Json::array();
  for (const Json& name : metadata.value("finalizers", Json::array())) {
    if (name != "orphan" && name != "foregroundDeletion") kept.push_back(name);
  }
  if (options.propagation == "Orphan") kept.push_back("orphan");
  if (options.propagation == "Foreground") kept.push_back("foregroundDeletion");
  if (kept.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(kept);
  }
}

// Whether the grace period of a deleted object is over: only its finalizers keep it.
bool IsPastGrace(const Json& object) {
  return IsDeleting(object) &&
         MetadataOf(object).value("deletionGracePeriodSeconds", std::int64_t{0}) == 0;
}

// A pod that ends may only end sooner: what asks for nothing sooner changes nothing at all.
bool ChangesNothing(const Kind& kind, const Json& metadata, const DeleteOptions& options) {
  const std::int64_t left = metadata.value("deletionGracePeriodSeconds", std::int64_t{0});
  if (kind.resource != "pods" || left == 0) return false;
  return !options.grace || *options.grace >= left;
}

// Seconds that the object stays after its deletion.
std::int64_t GraceOf(const Kind& kind, const Json& object, const DeleteOptions& options) {
  if (kind.resource != "pods" || IsPastGrace(object)) return 0;
  if (!IsDeleting(object) && (NodeOf(object).empty() || IsTerminal(object))) return 0;
  constexpr std::int64_t kDefault = 30;
  const std::int64_t own = object.at("spec").value("terminationGracePeriodSeconds", kDefault);
  const std::int64_t grace = options.grace.value_or(own);
  return grace < 0 ? 1 : grace;
}

Refusal CheckPreconditions(const Kind& kind, const std::string& name, const Json& metadata,
                           const DeleteOptions& options) {
  Kind shown = kind;  // here the API server names the kind
  shown.plural = kind.kind;
  shown.resource = kind.kind + (kind.group.empty() ? "" : "." + kind.group);
  const std::string uid = api::TextAt(metadata, "uid");
  if (!options.uid.empty() && options.uid != uid) {
    return Conflict(shown, name,
                    "the UID in the precondition (" + options.uid +
                        ") does not match the UID in record (" + uid +
                        "). The object might have been deleted and then recreated");
  }
  const std::string version = api::TextAt(metadata, "resourceVersion");
  if (!options.resource_version.empty() && options.resource_version != version) {
    return Conflict(shown, name,
                    "the ResourceVersion in the precondition (" + options.resource_version +
                        ") does not match the ResourceVersion in record (" + version +
                        "). The object might have been modified");
  }
  return std::nullopt;
}

// Where a deletion takes the last finalizers off and removes the object in one step, kube-apiserver
// compares the version of the precondition with that of an object it has not filled in.
Refusal CheckStaleDeletion(const Kind& kind, const Json& before, const DeleteOptions& options) {
  if (options.resource_version.empty() || !HasFinalizers(before)) return std::nullopt;
  const std::string version = api::TextAt(MetadataOf(before), "resourceVersion");
  return Conflict(kind, api::KeyOf(before).name,
                  "Precondition failed: ResourceVersion in precondition: , ResourceVersion in "
                  "object meta: " +
                      version);
}

void Raise(Json& metadata) {
  if (metadata.contains("generation")) {
    metadata["generation"] = metadata["generation"].get<std::int64_t>() + 1;
  }
}

// Marks the object as deleted, as far as it is not yet.
void Mark(Json& metadata, std::int64_t grace, std::int64_t now) {
  const bool deleting = metadata.contains("deletionTimestamp");
  if (deleting && metadata.value("deletionGracePeriodSeconds", std::int64_t{0}) <= grace) return;
  std::int64_t begun = now;
  if (deleting) {
    const auto end = ParseTime(metadata["deletionTimestamp"].get<std::string>());
    begun = end.value_or(now) - metadata.value("deletionGracePeriodSeconds", std::int64_t{0});
  } else {
    Raise(metadata);
  }
  metadata["deletionTimestamp"] = FormatTime(begun + grace);
  metadata["deletionGracePeriodSeconds"] = grace;
}

}  // namespace

kube::Response ApiServer::State::Delete(const Call& call) {
  Json body;
  if (!call.request.body.empty()) body = api::ParseJson(call.request.body);
  const auto how = body.is_discarded() ? std::nullopt : OptionsOf(call.request, body);
  if (!how) return BadRequest("the delete options cannot be read");
  Call deletion = call;
  if (body.is_object()) {  // then the query does not count
    deletion.dry_run = body.value("dryRun", Json::array()) == Json{"All"};
  }
  return DeleteObject(deletion, call.target.key, *how);
}

kube::Response ApiServer::State::DeleteObject(const Call& call, const api::ObjectKey& key,
                                              const DeleteOptions& how) {
  Collection& collection = *call.target.collection;
  const Kind& kind = collection.kind;
  const auto found = collection.objects.find(key);
  if (found == collection.objects.end()) return NotFound(kind, key.name);
  const Object before = found->second;
  const bool is_namespace = kind.resource == "namespaces";
  if (is_namespace && (key.name == "default" || key.name == "kube-system")) {
    return Forbidden(kind, key.name, "this namespace may not be deleted");
  }
  if (auto refusal = CheckPreconditions(kind, key.name, MetadataOf(*before), how)) {
    return *refusal;
  }
  if (ChangesNothing(kind, MetadataOf(*before), how)) {  // admission is not asked either
    return Answer(200, collection.last.at(key)->text());
  }
  if (auto refusal = Admit(call, before.get(), nullptr)) return *refusal;
  if (auto refusal = Validate(call, before.get(), nullptr)) return *refusal;

  Json next = *before;
  Json& metadata = next["metadata"];
  if (kind.kind != "Event") SetCollectorFinalizers(how, metadata);
  const std::int64_t grace = GraceOf(kind, *before, how);
  const bool waits_for_content =
      is_namespace &&
      (!IsDeleting(*before) || !before->at("spec").value("finalizers", Json::array()).empty());
  const bool at_once = grace == 0 && !HasFinalizers(next) && !waits_for_content;
  if (at_once && (kind.resource != "pods" || IsPastGrace(*before))) {
    if (!call.dry_run) {
      if (auto refusal = CheckStaleDeletion(kind, *before, how)) return *refusal;
    }
    std::string text = collection.last.at(key)->text();
    if (!call.dry_run) text = Remove(collection, key, call.user)->text();
    if (kind.returns_deleted) return Answer(200, std::move(text));
    return Success(200, kind, key.name, api::TextAt(metadata, "uid"));
  }
  Mark(metadata, grace, options.now_seconds());
  if (is_namespace) {
    metadata.erase("deletionGracePeriodSeconds");
    next["status"]["phase"] = "Terminating";
  }
  // A pod that goes at once is marked first: two changes.
  std::string text;
  if (next == *before) {
    text = collection.last.at(key)->text();
  } else if (call.dry_run) {
    text = api::JsonText(next);
  } else {
    text = Store(collection, key, std::move(next), call.user)->text();
  }
  if (at_once && !call.dry_run) text = Remove(collection, key, call.user)->text();
  return Answer(200, std::move(text));
}

kube::Response ApiServer::State::DeleteAll(const Call& call) {
  Json body;
  if (!call.request.body.empty()) body = api::ParseJson(call.request.body);
  const auto how = body.is_discarded() ? std::nullopt : OptionsOf(call.request, body);
  if (!how) return BadRequest("the delete options cannot be read");
  const Selector selector = *Selector::Of(call.request);
  const Collection& collection = *call.target.collection;
  std::vector<api::ObjectKey> keys;
  std::string items;
  for (const auto& [key, object] : collection.objects) {
    const bool here = call.target.key.space.empty() || key.space == call.target.key.space;
    if (here && selector.Matches(*object)) keys.push_back(key);
  }
  const std::string list_version = std::to_string(version);
  for (const api::ObjectKey& key : keys) {
    items += (items.empty() ? "" : ",") + ItemText(collection.kind, *collection.last.at(key));
    const kube::Response each = DeleteObject(call, key, *how);
    if (each.status >= 300 && each.status != 404) return each;
  }
  const Kind& kind = collection.kind;
  return Answer(200, R"({"kind":")" + kind.kind + R"(List","apiVersion":")" + kind.api_version() +
                         R"(","metadata":{"resourceVersion":")" + list_version + R"("},"items":[)" +
                         items + "]}");
}

kube::Response ApiServer::State::Evict(const Call& call) {
  const Kind& kind = call.target.kind();
  const Object pod = Find(kind.resource, call.target.key);
  const Json body = api::ParseJson(call.request.body);
  if (body.is_discarded() || !body.is_object()) return BadRequest("the eviction cannot be read");
  if (auto refusal = CheckNamespace(call)) return *refusal;
  if (!pod) return NotFound(kind, call.target.key.name);
  Json copy = *pod;
  if (auto refusal = Admit(call, pod.get(), &copy)) return *refusal;
  const Json given = body.value("deleteOptions", Json());
  const auto how = OptionsOf(call.request, given);
  if (!how) return BadRequest("the delete options cannot be read");
  if (auto refusal = CheckPreconditions(kind, call.target.key.name, MetadataOf(*pod), *how)) {
    return *refusal;
  }
  if (!call.dry_run && SetEvicted(copy, Now())) {
    Store(*call.target.collection, call.target.key, std::move(copy), call.user);
  }
  DeleteOptions rest = *how;
  rest.resource_version.clear();  // it was checked before the condition was written
  const kube::Response deleted = DeleteObject(call, call.target.key, rest);
  return deleted.status < 300 ? PlainSuccess(201) : deleted;
}

// The end of a namespace: the controller that empties it takes its mark from the spec.
kube::Response ApiServer::State::Finalize(const Call& call) {
  Collection& collection = *call.target.collection;
  const api::ObjectKey& key = call.target.key;
  const Object before = Find("namespaces", key);
  const Json body = api::ParseJson(call.request.body);
  if (body.is_discarded() || !body.is_object()) return BadRequest("the namespace cannot be read");
  if (!before) return NotFound(collection.kind, key.name);
  const Json* metadata = api::FindMember(body, "metadata");
  const std::string given = metadata == nullptr ? "" : api::TextAt(*metadata, "resourceVersion");
  if (!given.empty() && given != api::TextAt(MetadataOf(*before), "resourceVersion")) {
    return Changed(collection.kind, key.name);
  }
  Json next = *before;
  next["spec"]["finalizers"] =
      body.value("spec", Json::object()).value("finalizers", Json::array());
  if (next["spec"]["finalizers"].empty()) next["spec"].erase("finalizers");
  const bool gone =
      IsDeleting(next) && !HasFinalizers(next) && !next["spec"].contains("finalizers");
  if (gone) {
    if (!call.dry_run) Remove(collection, key, call.user);
    return Answer(200, api::JsonText(next));
  }
  if (next == *before) return Answer(200, collection.last.at(key)->text());
  if (call.dry_run) return Answer(200, api::JsonText(next));
  return Answer(200, Store(collection, key, std::move(next), call.user)->text());
}

}  // namespace weft::world
