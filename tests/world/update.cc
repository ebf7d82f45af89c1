// PUT and PATCH.
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "tests/world/metadata.h"
#include "tests/world/pod_groups.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

void TakeMember(const Json& from, Json& to, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) {
    to.erase(name);
  } else {
    to[name] = *found;
  }
}

// Takes over what the user left out and what the system alone writes.
void TakeSystemFields(bool counts, const Json& before, Json& after) {
  for (const char* name : {"uid", "namespace", "name"}) {
    if (api::TextAt(after, name).empty() && before.contains(name)) after[name] = before[name];
  }
  TakeMember(before, after, "creationTimestamp");
  if (counts) TakeMember(before, after, "generation");
  if (before.contains("deletionTimestamp")) {
    for (const char* name : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
      if (before.contains(name)) after[name] = before[name];
    }
  }
}

// What a request to this subresource may not write comes from the stored object.
void KeepOtherParts(const Target& target, const Json& before, Json& next) {
  const Kind& kind = target.kind();
  if (target.subresource != "status") {
    if (kind.status) TakeMember(before, next, "status");
    if (kind.resource == "namespaces") {
      next["spec"]["finalizers"] = before.at("spec").value("finalizers", Json::array());
      if (next["spec"]["finalizers"].empty()) next["spec"].erase("finalizers");
    }
    return;
  }
  if (kind.custom) {
    Json status = next.contains("status") ? std::move(next["status"]) : Json();
    const Json version = next["metadata"].value("resourceVersion", Json());
    next = before;
    next["metadata"]["resourceVersion"] = version;
    if (status.is_null()) {
      next.erase("status");
    } else {
      next["status"] = std::move(status);
    }
    return;
  }
  TakeMember(before, next, "spec");
  if (kind.resource == "pods") {  // as old kubelets wrote wrong ones
    TakeMember(before["metadata"], next["metadata"], "ownerReferences");
  }
}

// Whether the parts that count for the generation differ.
bool SpecDiffers(const Kind& kind, const Json& before, const Json& after) {
  if (!kind.custom) {
    return before.value("spec", Json()) != after.value("spec", Json());
  }
  for (const Json* object : {&before, &after}) {
    const Json& other = object == &before ? after : before;
    for (const auto& [name, value] : object->items()) {
      if (name == "metadata" || (kind.status && name == "status")) continue;
      const auto found = other.find(name);
      if (found == other.end() || *found != value) return true;
    }
  }
  return false;
}

bool IsFinal(const Json& object) {
  const Json& metadata = MetadataOf(object);
  return IsDeleting(object) && !HasFinalizers(object) &&
         metadata.value("deletionGracePeriodSeconds", 0) == 0;
}

void CheckChange(const Target& target, const Json& before, const Json& next, Causes& causes) {
  const Kind& kind = target.kind();
  CheckMetadata(kind, MetadataOf(next), causes);
  CheckMetadataChange(MetadataOf(before), MetadataOf(next), causes);
  if (kind.schema) kind.schema->Check(next, causes);
  CheckBuiltIn(kind.resource, next, causes);
  CheckBuiltInChange(kind.resource, before, next, causes);
  CheckPodGroup(kind.resource, next, causes);
  CheckPodGroupChange(kind.resource, before, next, causes);
  if (kind.resource == "pods" && target.subresource.empty()) {
    CheckPodChange(before, next, causes);
  }
  if (MetadataOf(next).value("generation", 0) < MetadataOf(before).value("generation", 0)) {
    causes.push_back(WrongValue("metadata.generation", "0", "must not be decremented"));
  }
}

}  // namespace

kube::Response ApiServer::State::Put(const Call& call) {
  const Kind& kind = call.target.kind();
  const api::ObjectKey& key = call.target.key;
  Json next = api::ParseJson(call.request.body);
  if (next.is_discarded() || !next.is_object()) {
    return BadRequest("the object provided is unrecognized");
  }
  if (auto refusal = Decode(call, next)) return *refusal;
  Json& metadata = next["metadata"];
  const std::string name = api::TextAt(metadata, "name");
  if (!name.empty() && name != key.name) {
    return BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                      key.name + ")");
  }
  if (auto refusal = CheckSpace(call, metadata)) return *refusal;
  const Object before = Find(kind.resource, key);
  if (!before) {
    if (!kind.create_on_update) return NotFound(kind, key.name);
    if (const std::string uid = api::TextAt(metadata, "uid"); !uid.empty()) {
      return Conflict(
          kind, key.name,
          "Precondition failed: UID in precondition: " + uid + ", UID in object meta: ");
    }
    metadata["name"] = key.name;
    Call creation = call;
    creation.target.key.name.clear();
    return CreateObject(creation, std::move(next));
  }
  const std::string uid = api::TextAt(metadata, "uid");
  const std::string old_uid = api::TextAt(MetadataOf(*before), "uid");
  if (!uid.empty() && uid != old_uid) {
    return Conflict(
        kind, key.name,
        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + old_uid);
  }
  return UpdateObject(call, before, std::move(next));
}

kube::Response ApiServer::State::Patch(const Call& call) {
  const Kind& kind = call.target.kind();
  const api::ObjectKey& key = call.target.key;
  const std::string& type = call.request.content_type;
  const bool applies = type == "application/apply-patch+yaml";
  if (applies && call.manager.empty()) {
    return StatusAnswer(
        422, "Invalid",
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
        "required for apply patch");
  }
  const Object before = Find(kind.resource, key);
  if (!before && !(applies && call.target.subresource.empty())) return NotFound(kind, key.name);
  Json next;
  Refusal refusal;
  Owners owners;
  Call write = call;
  if (type == "application/merge-patch+json") {
    next = *before;
    refusal = MergePatch(call, next);
  } else if (type == "application/json-patch+json") {
    next = *before;
    refusal = JsonPatch(call, next);
  } else if (applies) {
    refusal = ApplyPatch(call, before, next, owners);
    write.owners = &owners;
  } else {
    return StatusAnswer(415, "UnsupportedMediaType",
                        "the body of the request was in an unknown format");
  }
  if (refusal) return *refusal;
  if (!next.is_object()) return BadRequest("the patch makes no object");
  if (before) {
    if (refusal = Decode(call, next); refusal) return *refusal;
    const std::string name = api::TextAt(next["metadata"], "name");
    if (name != key.name) {
      return BadRequest("the name of the object (" + name +
                        ") does not match the name on the URL (" + key.name + ")");
    }
    if (refusal = CheckSpace(call, next["metadata"]); refusal) return *refusal;
    return UpdateObject(write, before, std::move(next));
  }
  next["metadata"]["name"] = key.name;
  write.target.key.name.clear();
  return CreateObject(write, std::move(next));
}

kube::Response ApiServer::State::UpdateObject(const Call& call, const Object& before, Json next) {
  Collection& collection = *call.target.collection;
  const Kind& kind = collection.kind;
  const api::ObjectKey& key = call.target.key;
  const std::string old_version = api::TextAt(MetadataOf(*before), "resourceVersion");
  TakeSystemFields(kind.generation, MetadataOf(*before), next["metadata"]);
  KeepOtherParts(call.target, *before, next);
  if (kind.resource == "pods") {
    DefaultPod(next);
  } else if (!kind.custom) {
    DefaultBuiltIn(kind.resource, next);
  }
  if (kind.namespaced && !Find("namespaces", {"", key.space})) {
    return NotFound(CollectionOf("namespaces")->kind, key.space);
  }
  if (auto refusal = Admit(call, before.get(), &next)) return *refusal;

  const std::string given = api::TextAt(next["metadata"], "resourceVersion");
  if (given.empty() && !kind.unconditional) {
    Kind shown = kind;  // here the API server names the resource
    shown.kind = kind.plural;
    return Invalid(
        shown, key.name,
        {WrongValue("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  if (!given.empty() && given != old_version) return Changed(kind, key.name);
  next["metadata"]["resourceVersion"] = old_version;
  Causes causes;
  CheckChange(call.target, *before, next, causes);
  if (!causes.empty()) return Invalid(kind, key.name, causes);
  if (auto refusal = Validate(call, before.get(), &next)) return *refusal;

  const bool counts = kind.generation && call.target.subresource != "status";
  if (counts && SpecDiffers(kind, *before, next)) {
    next["metadata"]["generation"] = MetadataOf(*before).value("generation", 0) + 1;
  }
  if (IsFinal(next)) {
    std::string text = api::JsonText(next);
    if (!call.dry_run) Remove(collection, key, call.user);
    return Answer(200, std::move(text));
  }
  const bool same = next == *before && !ChangesOwners(call);
  if (same) return Answer(200, collection.last.at(key)->text());
  if (call.dry_run) return Answer(200, api::JsonText(next));
  SetOwners(call, *before, next);
  return Answer(200, Store(collection, key, std::move(next), call.user)->text());
}

}  // namespace weft::world
