#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/spec.h"
#include "operator/rules/node_selector_term.h"

namespace weft::api {

// The kinds of storage, reduced to what tells on which nodes a pod's volumes let it run.
// Source  k8s.io/api core/v1 and storage/v1, 1.36.
inline constexpr const char* kStorageGroup = "storage.k8s.io";
// A provisioner of this name makes no volumes: a StorageClass for those that people make.
inline constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";

struct PersistentVolume {
  Place place;
  ObjectMeta meta;  // name, uid, resourceVersion, labels, and whether it is being deleted
  // spec.nodeAffinity.required: one term must match; absent: no restriction.
  std::optional<std::vector<rules::NodeSelectorTerm>> affinity;
  std::string storage_class;  // "": none
  std::string attributes_class;
  std::int64_t bytes = 0;  // capacity
  std::vector<std::string> access_modes;
  bool block = false;          // volumeMode Block, else Filesystem
  std::string driver, handle;  // of a CSI volume; "" of others
  ObjectKey claim;             // spec.claimRef; an empty name: none
  std::string claim_uid;
  bool available = false;  // status.phase Available
};

// A PersistentVolumeClaim.
struct VolumeClaim {
  Place place;
  ObjectMeta meta;  // name, namespace, uid, resourceVersion, and whether it is being deleted
  std::string storage_class;  // "": none
  std::string attributes_class;
  std::int64_t bytes = 0;  // requested
  std::vector<std::string> access_modes;
  bool block = false;
  std::optional<fabric::LabelSelector> selector;  // of volumes
  std::string volume;                             // spec.volumeName; "": none yet
  bool served = false;                            // has a phase, so an API server has seen it
  bool bound = false;                             // to that volume, and the volume to it
  bool lost = false;                              // its volume is gone
  std::string selected_node;                      // for which a volume is being made; "": none
};

struct StorageClass {
  Place place;
  ObjectMeta meta;  // name, uid and resourceVersion
  std::string provisioner;
  bool waits = false;  // volumeBindingMode WaitForFirstConsumer, else Immediate
  std::vector<rules::NodeSelectorTerm> topologies;  // allowedTopologies; empty: everywhere
};

// How many volumes of each CSI driver the node takes; no entry: any number.
struct CsiNode {
  Place place;
  ObjectMeta meta;  // name, uid and resourceVersion
  std::map<std::string, std::int64_t> limits;
};

// Whether two states of an object say the same.
bool SameVolume(const PersistentVolume& a, const PersistentVolume& b);
bool SameVolume(const VolumeClaim& a, const VolumeClaim& b);
bool SameVolume(const StorageClass& a, const StorageClass& b);
bool SameVolume(const CsiNode& a, const CsiNode& b);

// The part of Inputs that is about volumes.
struct VolumeInputs {
  SharedList<PersistentVolume> volumes;
  SharedList<VolumeClaim> volume_claims;
  std::vector<StorageClass> storage_classes;
  SharedList<CsiNode> csi_nodes;
  // Whether all objects of the kind are there: a pod that names another one waits. False if the
  // kind may not be read, or a file has none of it.
  bool knows_volumes = false, knows_claims = false, knows_classes = false;
};

}  // namespace weft::api
