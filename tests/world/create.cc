// POST, and what every write has in common.
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "tests/world/metadata.h"
#include "tests/world/pod_groups.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

// Names end with five characters that make no words.
std::string Suffix(SplitMix64& random) {
  constexpr std::string_view kCharacters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kCharacters[random.Below(kCharacters.size())];
  return suffix;
}

void SetSystemFields(Json& metadata, std::string uid, std::string now) {
  for (const char* name :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"}) {
    metadata.erase(name);
  }
  metadata["uid"] = std::move(uid);
  metadata["creationTimestamp"] = std::move(now);
}

void SetNamespaceFields(Json& object) {
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = object["metadata"]["name"];
  object["spec"]["finalizers"] = {"kubernetes"};
  object["status"] = {{"phase", "Active"}};
}

// What a kind's strategy sets in a new object.
void Prepare(const Kind& kind, const std::string& now, Json& object) {
  if (kind.generation) object["metadata"]["generation"] = 1;
  if (kind.custom && kind.status) object.erase("status");
  if (kind.resource == "pods") object["status"] = NewPodStatus(object, now);
  if (kind.resource == "namespaces") SetNamespaceFields(object);
  if (kind.resource == "resourcequotas") object["status"] = Json::object();
  if (kind.resource == "jobs.batch" || kind.resource == kPodGroupResource) {
    object["status"] = Json::object();
  }
}

// The name of the wrong part, or nothing.
Refusal CheckIdentity(const Call& call, Json& object) {
  const Kind& kind = call.target.kind();
  if (!kind.custom) {
    if (api::TextAt(object, "kind").empty()) object["kind"] = kind.kind;
    if (api::TextAt(object, "apiVersion").empty()) object["apiVersion"] = kind.api_version();
  }
  const std::string version = api::TextAt(object, "apiVersion"), name = api::TextAt(object, "kind");
  if (name.empty()) return BadRequest("Object 'Kind' is missing in '" + call.request.body + "'");
  if (version != kind.api_version() || name != kind.kind) {
    return BadRequest("the API version in the data (" + version +
                      ") does not match the expected API version (" + kind.api_version() + ")");
  }
  if (!object.contains("metadata") || object["metadata"].is_null()) {
    object["metadata"] = Json::object();
  }
  if (!object["metadata"].is_object()) return BadRequest("metadata must be an object");
  return std::nullopt;
}

}  // namespace

Refusal CheckSpace(const Call& call, Json& metadata) {
  const std::string& wanted = call.target.key.space;
  if (!call.target.kind().namespaced) {
    metadata.erase("namespace");
    return std::nullopt;
  }
  const std::string space = api::TextAt(metadata, "namespace");
  if (!space.empty() && space != wanted) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata["namespace"] = wanted;
  return std::nullopt;
}

Refusal ApiServer::State::Decode(const Call& call, Json& object) const {
  if (auto refusal = CheckIdentity(call, object)) return refusal;
  const Kind& kind = call.target.kind();
  DropEmpty(kind, object);
  AddNulls(kind.resource, object);
  if (kind.schema == nullptr) return std::nullopt;
  std::vector<std::string> unknown;
  kind.schema->PruneAndDefault(object, unknown);
  if (unknown.empty() || !call.strict) return std::nullopt;
  std::string all;
  for (const std::string& field : unknown) {
    all += (all.empty() ? "" : ", ") + ("unknown field \"" + field + "\"");
  }
  return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                    kind.kind + ": strict decoding error: " + all);
}

namespace {

Refusal Ask(const ApiServer::Admission& admission, const Call& call, const Json* before,
            Json* object) {
  if (!admission) return std::nullopt;
  const Target& target = call.target;
  api::ObjectKey key = target.key;
  if (object != nullptr && key.name.empty()) key.name = api::KeyOf(*object).name;
  const ApiServer::Attempt attempt{
      target.kind().resource, target.subresource, call.user, key, before, object, call.dry_run};
  // What it throws is no wrong request.
  return [&]() noexcept { return admission(attempt); }();
}

}  // namespace

Refusal ApiServer::State::Admit(const Call& call, const Json* before, Json* object) const {
  return Ask(admission, call, before, object);
}

Refusal ApiServer::State::Validate(const Call& call, const Json* before, Json* object) const {
  return Ask(validation, call, before, object);
}

Refusal ApiServer::State::CheckNamespace(const Call& call) const {
  const Kind& kind = call.target.kind();
  if (!kind.namespaced) return std::nullopt;
  const std::string& space = call.target.key.space;
  const Object found = Find("namespaces", {"", space});
  if (!found) return NotFound(CollectionOf("namespaces")->kind, space);
  if (!IsDeleting(*found)) return std::nullopt;
  return Forbidden(
      kind, call.target.key.name,
      "unable to create new content in namespace " + space + " because it is being terminated",
      {{"NamespaceTerminating", "namespace " + space + " is being terminated",
        "metadata.namespace"}});
}

// Of a pod or a PodGroup.
Refusal ApiServer::State::SetPriority(const Call& call, Json& object) const {
  Json& spec = object["spec"];
  const std::string name = api::TextAt(spec, "priorityClassName");
  int priority = 0;
  std::string policy = "PreemptLowerPriority";
  if (name == "system-node-critical") {
    priority = 2'000'001'000;
  } else if (name == "system-cluster-critical") {
    priority = 2'000'000'000;
  } else if (!name.empty()) {
    const Object found = Find("priorityclasses.scheduling.k8s.io", {"", name});
    if (!found) {
      return Forbidden(call.target.kind(), api::KeyOf(object).name,
                       "no PriorityClass with name " + name + " was found");
    }
    priority = found->value("value", 0);
    policy = found->value("preemptionPolicy", policy);
  }
  const bool is_pod = call.target.kind().resource == "pods";
  if (!is_pod && spec.value("priority", priority) != priority) {
    return Forbidden(call.target.kind(), api::KeyOf(object).name,
                     "priority set in the pod group (" + std::to_string(spec.value("priority", 0)) +
                         ") must match the priority computed (" + std::to_string(priority) +
                         ") based on the priority class set in the spec");
  }
  spec["priority"] = priority;
  if (is_pod && !spec.contains("preemptionPolicy")) spec["preemptionPolicy"] = policy;
  return std::nullopt;
}

kube::Response ApiServer::State::Create(const Call& call) {
  Json object = api::ParseJson(call.request.body);
  if (object.is_discarded() || !object.is_object()) {
    return BadRequest("the object provided is unrecognized");
  }
  return CreateObject(call, std::move(object));
}

kube::Response ApiServer::State::CreateObject(const Call& given, Json object) {
  Call call = given;
  Collection& collection = *call.target.collection;
  const Kind& kind = collection.kind;
  if (auto refusal = Decode(call, object)) return *refusal;
  Json& metadata = object["metadata"];
  if (auto refusal = CheckSpace(call, metadata)) return *refusal;
  call.target.key.name = api::TextAt(metadata, "name");
  if (auto refusal = CheckNamespace(call)) return *refusal;
  const bool is_pod = kind.resource == "pods";
  if (is_pod) {
    if (auto refusal = AdmitPod(call, object)) return *refusal;
  } else if (kind.resource == kPodGroupResource) {
    if (auto refusal = AdmitPodGroup(call, object)) return *refusal;
  } else if (!kind.custom) {
    DefaultBuiltIn(kind.resource, object);
    if (kind.resource == "nodes") DefaultNewNode(object, options.taints_new_nodes);
  }
  if (auto refusal = Admit(call, nullptr, &object)) return *refusal;
  api::ObjectKey key = call.target.key;
  if (key.name.empty() && metadata.contains("generateName")) {
    key.name = api::TextAt(metadata, "generateName") + Suffix(random);
    metadata["name"] = key.name;
  }
  SetSystemFields(metadata, NewUid(), Now());
  Prepare(kind, Now(), object);
  Causes causes;
  CheckMetadata(kind, metadata, causes);
  if (kind.schema) kind.schema->Check(object, causes);
  CheckBuiltIn(kind.resource, object, causes);
  CheckPodGroup(kind.resource, object, causes);
  if (is_pod) CheckNewPod(object, causes);
  if (!causes.empty()) return Invalid(kind, key.name, causes);
  if (auto refusal = Validate(call, nullptr, &object)) return *refusal;
  const auto existing = collection.objects.find(key);
  if (kind.namespaced) {  // it counts even if the object exists already
    if (auto refusal = CheckQuota(call, object)) return *refusal;
  }
  if (metadata.contains("resourceVersion") && !call.dry_run) {
    return StatusAnswer(500, "", "resourceVersion should not be set on objects to be created");
  }
  if (existing != collection.objects.end()) {
    return AlreadyExists(kind, key.name, IsDeleting(*existing->second));
  }
  if (call.dry_run) return Answer(201, api::JsonText(object));
  if (call.owners != nullptr) collection.owners[key] = *call.owners;
  return Answer(201, Store(collection, key, std::move(object), call.user)->text());
}

}  // namespace weft::world
