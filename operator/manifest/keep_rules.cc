#include "operator/manifest/keep_rules.h"

#include <algorithm>
#include <initializer_list>

#include "operator/api/node.h"

namespace weft::manifest {
namespace {

using Keys = std::initializer_list<std::string_view>;

bool In(std::string_view key, Keys keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::optional<Where> KeepIf(bool keep, Where where = Where::kElsewhere) {
  return keep ? std::optional(where) : std::nullopt;
}

Where BelowRoot(std::string_view key) {
  if (key == "metadata") return Where::kMetadata;
  if (key == "spec") return Where::kSpec;
  if (key == "status") return Where::kStatus;
  return Where::kElsewhere;
}

// Whether the field is never read: bookkeeping of the API server and of kubectl (which repeats the
// whole object), and parts of Node and Pod status that our kinds do not have.
bool IsNeverRead(Where where, std::string_view key) {
  if (where == Where::kMetadata) return key == "managedFields";
  if (where == Where::kAnnotations)
    return key == "kubectl.kubernetes.io/last-applied-configuration";
  return where == Where::kStatus && In(key, {"images", "nodeInfo", "volumesInUse",
                                             "volumesAttached", "ephemeralContainerStatuses"});
}

std::optional<Where> EnterNode(Where where, std::string_view key) {
  switch (where) {
    case Where::kMetadata:
      if (key == "annotations") return Where::kAnnotations;
      return KeepIf(In(key, {"name", "uid", "labels", "resourceVersion", "creationTimestamp"}));
    case Where::kAnnotations:
      return KeepIf(key == api::kHamiRegister || key == api::kVolcanoRegister);
    case Where::kSpec:
      return KeepIf(In(key, {"taints", "unschedulable"}));
    case Where::kStatus:
      if (key == "conditions") return Where::kConditions;
      return KeepIf(In(key, {"allocatable", "capacity"}));
    case Where::kConditions:
      return KeepIf(In(key, {"type", "status", "lastTransitionTime"}));
    default:
      return Where::kElsewhere;
  }
}

std::optional<Where> EnterPod(Where where, std::string_view key) {
  switch (where) {
    case Where::kSpec:
      if (In(key, {"containers", "initContainers"})) return Where::kContainers;
      if (key == "volumes") return Where::kVolumes;
      return KeepIf(
          In(key, {"overhead", "resources", "nodeSelector", "affinity", "tolerations",
                   "resourceClaims", "nodeName", "schedulingGates", "priorityClassName", "priority",
                   "hostNetwork", "topologySpreadConstraints", "schedulingGroup"}));
    case Where::kStatus:
      if (key == "conditions") return Where::kConditions;
      if (In(key, {"containerStatuses", "initContainerStatuses"})) return Where::kContainers;
      return KeepIf(In(key, {"phase", "reason", "nominatedNodeName", "resourceClaimStatuses",
                             "allocatedResources", "resources"}));
    case Where::kConditions:
      return KeepIf(In(key, {"type", "status", "reason", "message", "lastTransitionTime"}));
    case Where::kContainers:
      return KeepIf(In(key, {"name", "resources", "restartPolicy", "state", "lastState", "image",
                             "ports", "allocatedResources"}));
    case Where::kVolumes:
      return KeepIf(In(key, {"name", "persistentVolumeClaim", "ephemeral"}));
    default:
      return Where::kElsewhere;
  }
}

std::optional<Where> EnterWorkload(Where where, std::string_view key) {
  switch (where) {
    case Where::kSpec:
      if (key == "podSets") return Where::kPodSets;
      return KeepIf(In(key, {"active", "priority", "priorityClassRef", "queueName"}));
    case Where::kPodSets:
      if (key == "template") return Where::kPodTemplate;
      return KeepIf(In(key, {"name", "count", "topologyRequest"}));
    case Where::kPodTemplate:
      if (key == "metadata") return Where::kMetadata;
      return KeepIf(key == "spec", Where::kPodSpec);
    case Where::kPodSpec:
      return EnterPod(Where::kSpec, key);
    case Where::kContainers:
    case Where::kVolumes:
      return EnterPod(where, key);
    default:
      return Where::kElsewhere;
  }
}

}  // namespace

Subject SubjectOfKind(std::string_view kind) {
  if (kind == "Node") return Subject::kNode;
  if (kind == "Pod") return Subject::kPod;
  if (kind == "Workload") return Subject::kWorkload;
  if (kind.ends_with("List")) return Subject::kWhole;
  if (In(kind, {"TrainingJob", "Placement", "Fabric", "PriorityClass", "RuntimeClass", "PodGroup",
                "Namespace", "ConfigMap", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate",
                "DeviceClass", "PersistentVolume", "PersistentVolumeClaim", "StorageClass",
                "CSINode", "AdmissionCheck", "ResourceFlavor", "ComputeDomain"})) {
    return Subject::kWhole;
  }
  return Subject::kIgnored;
}

std::optional<Where> Enter(Subject subject, Where where, std::string_view key) {
  if (subject == Subject::kEverything || where == Where::kElsewhere) return Where::kElsewhere;
  if (where == Where::kAround) {
    return In(key, {"object", "items"}) ? Where::kRoot : Where::kElsewhere;
  }
  if (IsNeverRead(where, key)) return std::nullopt;
  if (where == Where::kRoot) {
    return KeepIf(subject != Subject::kIgnored || In(key, {"apiVersion", "kind", "metadata"}),
                  BelowRoot(key));
  }
  if (where == Where::kMetadata && subject == Subject::kIgnored) {
    return KeepIf(In(key, {"name", "namespace"}));
  }
  if (subject == Subject::kNode) return EnterNode(where, key);
  if (where == Where::kMetadata && key == "annotations") return Where::kAnnotations;
  if (subject == Subject::kPod) return EnterPod(where, key);
  if (subject == Subject::kWorkload) return EnterWorkload(where, key);
  return Where::kElsewhere;
}

}  // namespace weft::manifest
