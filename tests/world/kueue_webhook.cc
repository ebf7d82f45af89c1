// What Kueue lets others write: definitions and the webhook of Workloads.
#include "tests/world/kueue.h"

namespace weft::world {
namespace {

Json OpenObject() { return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}; }

Json Text(std::size_t longest) { return {{"type", "string"}, {"maxLength", longest}}; }

Json ListByKey(const char* key, std::size_t longest, Json item) {
  return {{"type", "array"},
          {"maxItems", longest},
          {"items", std::move(item)},
          {"x-kubernetes-list-type", "map"},
          {"x-kubernetes-list-map-keys", {key}}};
}

Json ConditionSchema() {
  const Json status = {{"type", "string"}, {"enum", {"True", "False", "Unknown"}}};
  Json reason = Text(1'024);
  reason["minLength"] = 1;
  reason["pattern"] = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
  return {{"type", "object"},
          {"required", {"lastTransitionTime", "message", "reason", "status", "type"}},
          {"properties",
           {{"type", Text(316)},
            {"status", status},
            {"reason", reason},
            {"message", Text(32'768)},
            {"observedGeneration", {{"type", "integer"}, {"minimum", 0}}},
            {"lastTransitionTime", {{"type", "string"}, {"format", "date-time"}}}}}};
}

Json CheckSchema() {
  const Json state = {{"type", "string"}, {"enum", {"Pending", "Ready", "Retry", "Rejected"}}};
  const Json integer = {{"type", "integer"}, {"minimum", 0}};
  const Json updates = {{"type", "array"}, {"maxItems", 18}, {"items", OpenObject()}};
  return {{"type", "object"},
          {"required", {"lastTransitionTime", "message", "name", "state"}},
          {"properties",
           {{"name", Text(316)},
            {"state", state},
            {"message", Text(32'768)},
            {"lastTransitionTime", {{"type", "string"}, {"format", "date-time"}}},
            {"requeueAfterSeconds", integer},
            {"retryCount", integer},
            {"podSetUpdates", updates}}}};
}

Json WorkloadSchema() {
  Json spec = OpenObject(), status = OpenObject();
  const Json pod_set = {{"type", "object"},
                        {"required", {"name", "template"}},
                        {"x-kubernetes-preserve-unknown-fields", true},
                        {"properties",
                         {{"name", Text(63)},
                          {"count", {{"type", "integer"}, {"minimum", 0}, {"default", 1}}},
                          {"template", OpenObject()}}}};
  spec["properties"] = {{"active", {{"type", "boolean"}, {"default", true}}},
                        {"queueName", Text(253)},
                        {"podSets", ListByKey("name", 18, pod_set)}};
  status["properties"] = {{"conditions", ListByKey("type", 16, ConditionSchema())},
                          {"admissionChecks", ListByKey("name", 8, CheckSchema())}};
  return {{"type", "object"}, {"properties", {{"spec", spec}, {"status", status}}}};
}

Json DefinitionOf(const kube::Resource& resource, Json schema) {
  const std::string plural(resource.plural);
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + ".kueue.x-k8s.io"}}},
          {"spec",
           {{"group", "kueue.x-k8s.io"},
            {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
            {"names", {{"plural", plural}, {"kind", std::string(resource.kind)}}},
            {"versions",
             {{{"name", "v1beta2"},
               {"served", true},
               {"storage", true},
               {"subresources", {{"status", Json::object()}}},
               {"schema", {{"openAPIV3Schema", std::move(schema)}}}}}}}}};
}

kube::Response Refused(const std::string& why) {
  return StatusAnswer(403, "Forbidden",
                      "admission webhook \"vworkload.kb.io\" denied the request: " + why);
}

const Json& CheckNamed(const Json& workload, const std::string& name) {
  static const Json none;
  for (const Json& one : At(workload, {"status", "admissionChecks"})) {
    if (TextAt(one, {"name"}) == name) return one;
  }
  return none;
}

std::string WhyInvalid(const Json& now) {
  if (IsTrue(now, "QuotaReserved") && At(now, {"status", "admission"}).is_null()) {
    return "status.admission: must be set while the QuotaReserved condition is true";
  }
  for (const Json& check : At(now, {"status", "admissionChecks"})) {
    for (const Json& update : At(check, {"podSetUpdates"})) {
      bool known = false;
      for (const Json& set : At(now, {"spec", "podSets"})) {
        known = known || TextAt(set, {"name"}) == TextAt(update, {"name"});
      }
      if (!known) return "podSetUpdates: unknown pod set " + TextAt(update, {"name"});
    }
  }
  return "";
}

std::string WhyUnchangeable(const Json& before, const Json& now) {
  const bool had = IsTrue(before, "QuotaReserved"), has = IsTrue(now, "QuotaReserved");
  if (had && At(before, {"spec", "podSets"}) != At(now, {"spec", "podSets"})) {
    return "spec.podSets: field is immutable";
  }
  if (had && has && At(before, {"spec", "queueName"}) != At(now, {"spec", "queueName"})) {
    return "spec.queueName: field is immutable while quota reserved";
  }
  const Json& admission = At(before, {"status", "admission"});
  if (!admission.is_null() && !At(now, {"status", "admission"}).is_null() &&
      admission != At(now, {"status", "admission"})) {
    return "status.admission: field is immutable";
  }
  for (const Json& was : At(before, {"status", "admissionChecks"})) {
    const Json& is = CheckNamed(now, TextAt(was, {"name"}));
    if (TextAt(was, {"state"}) == "Ready" && TextAt(is, {"state"}) == "Ready" &&
        At(was, {"podSetUpdates"}) != At(is, {"podSetUpdates"})) {
      return "status.admissionChecks.podSetUpdates: field is immutable";
    }
  }
  return "";
}

}  // namespace

std::vector<Json> KueueDefinitions() {
  const Json any = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  return {DefinitionOf(kube::kWorkloads, WorkloadSchema()),
          DefinitionOf(kLocalQueues, any),
          DefinitionOf(kClusterQueues, any),
          DefinitionOf(kube::kAdmissionChecks, any),
          DefinitionOf(kube::kResourceFlavors, any),
          DefinitionOf(kube::kWorkloadPriorityClasses, any)};
}

std::optional<kube::Response> Kueue::Admit(const ApiServer::Attempt& attempt) const {
  const bool workload = attempt.resource == "workloads.kueue.x-k8s.io";
  const bool job = attempt.resource == "jobs.batch" && attempt.subresource.empty();
  if ((!workload && !job) || attempt.object == nullptr) return std::nullopt;
  if (down_) {
    const std::string name = workload ? "vworkload.kb.io" : "mjob.kb.io";
    return StatusAnswer(500, "InternalError",
                        "Internal error occurred: failed calling webhook \"" + name +
                            "\": connect: connection refused");
  }
  Json& now = *attempt.object;
  if (job) {
    // The mutating webhook: a queued Job starts when it is admitted.
    if (attempt.before == nullptr && !LabelOf(now, kQueueName).empty()) {
      now["spec"]["suspend"] = true;
    }
    return std::nullopt;
  }
  std::string why = WhyInvalid(now);
  if (why.empty() && attempt.before != nullptr) why = WhyUnchangeable(*attempt.before, now);
  if (why.empty()) return std::nullopt;
  return Refused(why);
}

}  // namespace weft::world
