#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/device_selector.h"
#include "operator/api/devices.h"
#include "operator/api/json_reader.h"
#include "operator/fabric/node_facts.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// What the kinds of DRA say beyond the structs of devices.h, for claims of devices that are no
// accelerators. Few clusters have such claims, so decoding keeps it as a text, in the annotations
// of the object's meta, and these functions read it when a claim asks for it. Objects that were not
// decoded have none.

// Where devices are.
struct DevicePlace {
  std::string node_name;
  std::optional<std::vector<rules::NodeSelectorTerm>> terms;  // one must match the node
  bool all_nodes = false;

  bool somewhere() const { return all_nodes || !node_name.empty() || terms.has_value(); }
};

struct Device {
  std::string name;
  DeviceFacts facts;
  std::vector<fabric::Taint> taints;
  bool shareable = false;  // allowMultipleAllocations: several claims may have it (KEP-5075)
  DevicePlace place;       // nowhere: that of its slice
};

struct SliceDetails {
  DevicePlace place;
  std::vector<Device> devices;
};

// One way to serve a request: it has one of `exactly`, or several of `firstAvailable`.
struct RequestChoice {
  std::string device_class;
  std::int64_t count = 1;  // 0: admin access, which takes no device
  bool all = false;        // allocationMode All
  std::vector<std::string> selectors;
  std::vector<rules::Toleration> tolerations;
};
struct ClaimRequest {
  std::string name;
  std::vector<RequestChoice> choices;
};

// For the decoders.
void KeepDetails(const Field& slice_spec, ResourceSlice& slice);
void KeepDetails(const Field& class_spec, DeviceClass& device_class);
void KeepDetails(const Field& claim_spec, ClaimTemplate& claim_template);
// `allocation`: of the claim's status.
void KeepDetails(const Field& claim_spec, const Field& allocation, ResourceClaim& claim);

// Of a slice whose devices no claim looks at by them.
void DropDetails(ResourceSlice& slice);

// Nothing if the object has no details, or those cannot be read.
// Cost  linear in the text: to be called for objects that a claim asks for.
std::optional<SliceDetails> DetailsOf(const ResourceSlice& slice);
// Without reading them: whether the slice has a device of this name, and whether claims may share
// any of its devices.
bool ListsDevice(const ResourceSlice& slice, const std::string& name);
bool ListsShareable(const ResourceSlice& slice);
std::optional<std::vector<std::string>> SelectorsOf(const DeviceClass& device_class);
std::optional<std::vector<ClaimRequest>> RequestsOf(const ClaimTemplate& claim_template);
std::optional<std::vector<ClaimRequest>> RequestsOf(const ResourceClaim& claim);
// status.allocation.nodeSelector; also nothing if the claim is not allocated or may be used
// everywhere.
std::optional<std::vector<rules::NodeSelectorTerm>> AllocatedPlace(const ResourceClaim& claim);

}  // namespace weft::api
