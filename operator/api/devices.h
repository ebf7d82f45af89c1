#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/shared_list.h"

namespace weft::api {

// The kinds of dynamic resource allocation (DRA), reduced to what tells which accelerators exist,
// which are taken and which are asked for. Versions v1, v1beta2 and v1beta1 are read alike.
// Source  k8s.io/api/resource/v1; KEP-4381 (DRA), KEP-4815 (partitionable devices), KEP-5004
//         (extended resources backed by DRA).
inline constexpr const char* kDeviceGroup = "resource.k8s.io";

// The API group of ComputeDomains, their driver, and the DeviceClass of the channel that a node
// has. Source  github.com/kubernetes-sigs/dra-driver-nvidia-gpu.
inline constexpr const char* kComputeDomainGroup = "resource.nvidia.com";
inline constexpr const char* kComputeDomainDriver = "compute-domain.nvidia.com";
inline constexpr const char* kChannelClass = "compute-domain-default-channel.nvidia.com";

// The devices of one driver on one node. A whole device is one that a GPU's partitions share: it
// has the name of the counter set that they consume, else the uuid of their parent, else the
// device's own name.
struct ResourceSlice {
  Place place;
  ObjectMeta meta;  // name, uid and resourceVersion only
  std::string driver, pool;
  std::int64_t generation = 0;                 // of the pool: slices of older ones no longer count
  std::int64_t slices_in_pool = 1;             // of that generation: with fewer, none counts
  std::string node_name;                       // "": the devices belong to no one node
  std::map<std::string, std::int64_t> usable;  // by attribute `type`: whole devices without a taint
  std::map<std::string, std::int64_t> tainted;  // the others, by `type`
  std::string product;  // attribute productName of all devices; "" if they have several or none
  std::string profile;  // the same of AMD's partitionProfile: "dpx_nps1"
  // Devices whose whole device has another name.
  struct Part {
    std::string device, whole;

    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
};
// Whether two slices say the same about devices.
bool SameDevices(const ResourceSlice& a, const ResourceSlice& b);

struct DeviceClass {
  Place place;
  ObjectMeta meta;
  // What `device.driver == "..."`, `device.attributes["..."].type == "..."` and `.productName` in
  // its selectors say; "" if they do not. Other CEL is not evaluated.
  std::string driver, type, product;
  bool exact = false;             // the selectors say nothing else
  std::string extended_resource;  // spec.extendedResourceName; "" if absent

  friend bool operator==(const DeviceClass& a, const DeviceClass& b) {
    return a.driver == b.driver && a.type == b.type && a.product == b.product &&
           a.exact == b.exact && a.extended_resource == b.extended_resource;
  }
};

// One request of a claim. Of alternatives (firstAvailable), the first is read, and the classes of
// the others.
struct DeviceRequest {
  std::string device_class;
  std::int64_t count = 1;
  bool all = false;  // allocationMode All: every matching device of the node
  std::vector<std::string> other_classes = {};

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

struct ClaimTemplate {
  Place place;
  ObjectMeta meta;
  std::vector<DeviceRequest> requests;
};

struct ResourceClaim {
  Place place;
  ObjectMeta meta;
  std::vector<DeviceRequest> requests;
  // status.allocation, without devices for which the claim has only admin access.
  struct Device {
    std::string driver, pool, name;

    friend auto operator<=>(const Device&, const Device&) = default;
  };
  std::vector<Device> devices;
  std::string node_name;  // where the nodeSelector of the allocation names one node
  // status.reservedFor.
  struct User {
    std::string pod, uid;

    friend bool operator==(const User&, const User&) = default;
  };
  std::vector<User> users;
  // kube-scheduler made the claim for a pod that requests an extended resource (KEP-5004), so the
  // pod's own requests say the same.
  bool for_extended_resource = false;
  bool of_template = false;  // made for a pod from its ResourceClaimTemplate
};

// An entry of a pod's spec.resourceClaims; one of the names is set.
struct ClaimReference {
  std::string claim, claim_template;
  // The ResourceClaim that was made of the template for this pod; "": none yet, or not for a pod.
  std::string made = {};
  // For a channel of a ComputeDomain: by its names (NamesComputeDomain in pod_requirements.h) until
  // cluster::ResolveChannelClaims looks at what it requests.
  bool channel = false;

  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

// The part of Inputs that is about devices.
struct DeviceInputs {
  SharedList<ResourceSlice> resource_slices;
  SharedList<ResourceClaim> resource_claims;
  SharedList<ClaimTemplate> claim_templates;
  SharedList<ClaimTemplate> channel_templates;  // that their driver makes of ComputeDomains
  std::vector<DeviceClass> device_classes;
};

}  // namespace weft::api
