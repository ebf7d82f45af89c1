#include "operator/controllers/kube_writer.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/kube/kueue_resources.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

constexpr kube::Resource kComputeDomains{"resource.nvidia.com", "v1beta1", "computedomains",
                                         "ComputeDomain", true};

// The form that has a field selector for the object in every version of Kubernetes.
constexpr kube::Resource kCoreEvents{"", "v1", "events", "Event"};
constexpr const char* kPodWarnings =
    "involvedObject.kind=Pod,type=Warning,reason!=FailedScheduling,reason!=BackOff,reason!=Failed,"
    "reason!=Unhealthy,reason!=Evicted,reason!=TaintManagerEviction";
// A selector has no "or": what remains are Pulling, Pulled, and few others.
constexpr const char* kPodPulls =
    "involvedObject.kind=Pod,type=Normal,reason!=Scheduled,reason!=Created,reason!=Started,"
    "reason!=Killing,reason!=Completed,reason!=AddedInterface";
// The API server keeps events for an hour, and a kubelet joins those that are alike. Anybody with
// `edit` may write some, and their messages have no limit.
constexpr int kEventsAtMost = 500;
constexpr std::size_t kEventBytesAtMost = std::size_t{4} << 20;
constexpr std::chrono::seconds kEventsWithin{5};
constexpr const char* kReadsNoEvents = "this writer reads no events";

const kube::Resource& ResourceOf(Kind kind) {
  switch (kind) {
    case Kind::kPod:
      return kube::kPods;
    case Kind::kService:
      return kube::kServices;
    case Kind::kConfigMap:
      return kube::kConfigMaps;
    case Kind::kSecret:
      return kube::kSecrets;
    case Kind::kComputeDomain:
      return kComputeDomains;
    case Kind::kClaimTemplate:
      return kube::kClaimTemplates;
    case Kind::kPodGroup:
      return kube::kPodGroups;
    case Kind::kPlacement:
      return kube::kPlacements;
    case Kind::kTrainingJob:
      return kube::kTrainingJobs;
    case Kind::kFabric:
      return kube::kFabrics;
    case Kind::kResourceQuota:
      return kube::kResourceQuotas;
    case Kind::kWorkload:
      return kube::kWorkloads;
    case Kind::kAdmissionCheck:
      return kube::kAdmissionChecks;
    case Kind::kWorkloadPriorityClass:
      return kube::kWorkloadPriorityClasses;
  }
  return kube::kPods;
}

// The resource of an owner's kind, or null. Versions are those that the controllers write.
const kube::Resource* OwnerResource(const api::OwnerReference& owner) {
  static constexpr kube::Resource kKnown[] = {
      {"batch", "v1", "jobs", "Job"},
      {"jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet"},
      {"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob"},
      {"kubeflow.org", "v1", "tfjobs", "TFJob"},
      {"kubeflow.org", "v1", "xgboostjobs", "XGBoostJob"},
      {"kubeflow.org", "v1", "paddlejobs", "PaddleJob"},
      {"kubeflow.org", "v1", "jaxjobs", "JAXJob"},
      {"kubeflow.org", "v1", "mpijobs", "MPIJob"},
      {"kubeflow.org", "v2beta1", "mpijobs", "MPIJob"},
      {"ray.io", "v1", "rayclusters", "RayCluster"},
  };
  for (const kube::Resource& one : kKnown) {
    const std::string version = std::string(one.group) + "/" + std::string(one.version);
    if (one.kind == owner.kind && version == owner.api_version) return &one;
  }
  return nullptr;
}

Json Test(const char* path, const std::string& value) {
  return {{"op", "test"}, {"path", path}, {"value", value}};
}

}  // namespace

Result<Json> ApiWriter::GetOwner(const api::OwnerReference& owner, const std::string& space) {
  return Error{ErrorKind::kNotFound, owner.api_version + " " + owner.kind + " " + space + "/" +
                                         owner.name + " is of a kind that Weft does not know"};
}

Result<Json> ApiWriter::WarningsIn(const std::string&) {
  return Error{ErrorKind::kNotFound, kReadsNoEvents};
}
Result<Json> ApiWriter::PullsIn(const std::string&) {
  return Error{ErrorKind::kNotFound, kReadsNoEvents};
}

Status KubeWriter::Allowed() const {
  if (may_write_()) return {};
  return Error{ErrorKind::kTransient, "this replica is not the leader"};
}

Result<Json> KubeWriter::Create(Kind kind, const Json& object, bool dry_run) {
  if (Status allowed = Allowed(); !allowed) return allowed.error();
  return client_.Create(ResourceOf(kind), object, dry_run);
}

Result<Json> KubeWriter::Get(const Target& target) {
  return client_.Get(ResourceOf(target.kind), target.key);
}

Result<Json> KubeWriter::GetOwner(const api::OwnerReference& owner, const std::string& space) {
  const kube::Resource* resource = OwnerResource(owner);
  if (resource == nullptr) return ApiWriter::GetOwner(owner, space);
  return client_.Get(*resource, {space, owner.name});
}

Result<Json> KubeWriter::WarningsIn(const std::string& space) {
  return EventsIn(space, kPodWarnings);
}
Result<Json> KubeWriter::PullsIn(const std::string& space) { return EventsIn(space, kPodPulls); }

Result<Json> KubeWriter::EventsIn(const std::string& space, const char* selector) {
  kube::Request request = kube::GetRequest(kCoreEvents, {space, ""});
  request.query["fieldSelector"] = selector;
  request.query["limit"] = std::to_string(kEventsAtMost);
  request.timeout = kEventsWithin;
  request.most_bytes = kEventBytesAtMost;
  return client_.Do(request, 1);
}

// In a merge patch, uid and resourceVersion in the metadata are preconditions.
Result<Json> KubeWriter::Merge(const Target& target, Json patch, std::string_view subresource) {
  if (Status allowed = Allowed(); !allowed) return allowed.error();
  if (!target.uid.empty()) patch["metadata"]["uid"] = target.uid;
  if (!target.resource_version.empty()) {
    patch["metadata"]["resourceVersion"] = target.resource_version;
  }
  return client_.Patch(ResourceOf(target.kind), target.key, kube::Client::PatchType::kMerge, patch,
                       subresource);
}

Result<Json> KubeWriter::Patch(const Target& target, const Json& patch) {
  return Merge(target, patch, "");
}

Result<Json> KubeWriter::PatchStatus(const Target& target, const Json& patch) {
  return Merge(target, patch, "status");
}

Result<Json> KubeWriter::PatchExactly(const Target& target, const Json& operations) {
  if (Status allowed = Allowed(); !allowed) return allowed.error();
  Json all = Json::array();
  if (!target.uid.empty()) all.push_back(Test("/metadata/uid", target.uid));
  if (!target.resource_version.empty()) {
    all.push_back(Test("/metadata/resourceVersion", target.resource_version));
  }
  all.insert(all.end(), operations.begin(), operations.end());
  return client_.Patch(ResourceOf(target.kind), target.key, kube::Client::PatchType::kJson, all);
}

Status KubeWriter::Delete(const Target& target) {
  if (Status allowed = Allowed(); !allowed) return allowed.error();
  return client_.Delete(ResourceOf(target.kind), target.key, {target.uid, target.resource_version});
}

Status KubeWriter::Evict(const Target& target) {
  if (Status allowed = Allowed(); !allowed) return allowed.error();
  return client_.Evict(target.key, {target.uid, target.resource_version});
}

}  // namespace weft::controllers
