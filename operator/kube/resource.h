#pragma once

#include <string>
#include <string_view>

#include "operator/api/meta.h"

namespace weft::kube {

// One resource of the Kubernetes API.
struct Resource {
  std::string_view group;  // "": the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;
};

inline constexpr Resource kNodes{"", "v1", "nodes", "Node", false};
inline constexpr Resource kPods{"", "v1", "pods", "Pod", true};
inline constexpr Resource kServices{"", "v1", "services", "Service", true};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};
inline constexpr Resource kSecrets{"", "v1", "secrets", "Secret", true};
inline constexpr Resource kResourceQuotas{"", "v1", "resourcequotas", "ResourceQuota", true};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Resource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses",
                                           "PriorityClass", false};
// Kubernetes 1.37 serves it if its feature gates say so.
inline constexpr Resource kPodGroups{"scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup", true};
inline constexpr Resource kResourceSlices{"resource.k8s.io", "v1", "resourceslices",
                                          "ResourceSlice", false};
inline constexpr Resource kResourceClaims{"resource.k8s.io", "v1", "resourceclaims",
                                          "ResourceClaim", true};
inline constexpr Resource kClaimTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates",
                                          "ResourceClaimTemplate", true};
inline constexpr Resource kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses", "DeviceClass",
                                         false};
inline constexpr Resource kVolumes{"", "v1", "persistentvolumes", "PersistentVolume", false};
inline constexpr Resource kVolumeClaims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                                        true};
inline constexpr Resource kStorageClasses{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                                          false};
inline constexpr Resource kCsiNodes{"storage.k8s.io", "v1", "csinodes", "CSINode", false};
inline constexpr Resource kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline constexpr Resource kTrainingJobs{"weft.dev", "v1alpha1", "trainingjobs", "TrainingJob",
                                        true};
inline constexpr Resource kPlacements{"weft.dev", "v1alpha1", "placements", "Placement", true};
inline constexpr Resource kFabrics{"weft.dev", "v1alpha1", "fabrics", "Fabric", false};

// Whether the resource is one of those that tell where volumes let pods run.
bool IsOfVolumes(const Resource& resource);

// "/api/v1/pods", "/apis/weft.dev/v1alpha1/namespaces/team-a/trainingjobs/x/status". An empty
// namespace means all namespaces; an empty name means the collection.
std::string PathOf(const Resource& resource, const api::ObjectKey& key,
                   std::string_view subresource = "");

}  // namespace weft::kube
