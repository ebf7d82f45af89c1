// Bindings of pods.
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {

kube::Response ApiServer::State::Bind(const Call& call) {
  Collection& collection = *call.target.collection;
  const Kind& kind = collection.kind;
  const api::ObjectKey& key = call.target.key;
  const Json body = api::ParseJson(call.request.body);
  if (body.is_discarded() || !body.is_object()) return BadRequest("the binding cannot be read");
  if (auto refusal = CheckNamespace(call)) return *refusal;
  const Object before = Find("pods", key);
  if (!before) return NotFound(kind, key.name);
  const std::string node = api::TextAt(body.value("target", Json::object()), "name");
  if (node.empty()) {
    return Invalid(kind, key.name, {Required("target.name")});
  }
  const Json metadata = body.value("metadata", Json::object());
  const std::string uid = api::TextAt(metadata, "uid");
  const std::string own = api::TextAt(MetadataOf(*before), "uid");
  if (!uid.empty() && uid != own) {
    return Conflict(
        kind, key.name,
        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + own,
        "binding");
  }
  if (IsDeleting(*before)) {
    return Conflict(kind, key.name,
                    "pod " + key.name + " is being deleted, cannot be assigned to a host",
                    "binding");
  }
  if (!NodeOf(*before).empty()) {
    return Conflict(kind, key.name,
                    "pod " + key.name + " is already assigned to node \"" + NodeOf(*before) + "\"",
                    "binding");
  }
  if (HasGates(*before)) {
    return Conflict(kind, key.name, "pod " + key.name + " has non-empty .spec.schedulingGates",
                    "binding");
  }
  Json next = *before;
  next["spec"]["nodeName"] = node;
  const Json annotations = metadata.value("annotations", Json::object());
  for (const auto& [name, value] : annotations.items()) {
    next["metadata"]["annotations"][name] = value;
  }
  SetScheduled(next, Now());
  if (auto refusal = Admit(call, before.get(), &next)) return *refusal;
  if (!call.dry_run) Store(collection, key, std::move(next), call.user);
  return PlainSuccess(201);
}

}  // namespace weft::world
