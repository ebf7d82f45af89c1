#include "operator/plan/snapshot_volumes.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "operator/api/encode.h"
#include "operator/api/encode_pod.h"

namespace weft::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Keys = std::set<api::ObjectKey>;

constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr const char* kDeletedAt = "1970-01-01T00:00:00Z";  // only its presence matters

void AddClaims(const std::string& space, const fabric::PodTerms& terms, Keys& keys) {
  for (const fabric::ClaimedVolume& one : terms.volumes) keys.insert({space, one.claim});
}

Keys ClaimsIn(const api::Inputs& inputs) {
  Keys keys;
  for (const api::Pod& pod : inputs.pods) AddClaims(pod.meta.key.space, *pod.pod.terms, keys);
  for (const api::TrainingJob& job : inputs.jobs) {
    AddClaims(job.meta.key.space, *job.pod.terms, keys);
  }
  return keys;
}

OrderedJson StorageObject(const char* version, const char* kind, const api::ObjectMeta& meta) {
  OrderedJson metadata = {{"name", meta.key.name}};
  if (!meta.key.space.empty()) metadata["namespace"] = meta.key.space;
  if (!meta.uid.empty()) metadata["uid"] = meta.uid;
  if (meta.deleting) metadata["deletionTimestamp"] = kDeletedAt;
  if (!meta.labels.empty()) metadata["labels"] = meta.labels;
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

// What claims and volumes both have.
template <typename T>
void AddCommon(const T& object, OrderedJson& spec) {
  if (!object.storage_class.empty()) spec["storageClassName"] = object.storage_class;
  if (!object.attributes_class.empty()) {
    spec["volumeAttributesClassName"] = object.attributes_class;
  }
  if (!object.access_modes.empty()) spec["accessModes"] = object.access_modes;
  if (object.block) spec["volumeMode"] = "Block";
}

OrderedJson ClaimObject(const api::VolumeClaim& claim) {
  OrderedJson out = StorageObject("v1", "PersistentVolumeClaim", claim.meta);
  if (!claim.selected_node.empty()) {
    out["metadata"]["annotations"][kSelectedNode] = claim.selected_node;
  }
  OrderedJson spec = OrderedJson::object();
  AddCommon(claim, spec);
  spec["resources"]["requests"]["storage"] = std::to_string(claim.bytes);
  if (claim.selector) spec["selector"] = api::EncodeLabelSelector(*claim.selector);
  if (!claim.volume.empty()) spec["volumeName"] = claim.volume;
  out["spec"] = std::move(spec);
  if (claim.served) {
    out["status"]["phase"] = claim.lost ? "Lost" : claim.bound ? "Bound" : "Pending";
  }
  return out;
}

OrderedJson VolumeObject(const api::PersistentVolume& volume) {
  OrderedJson out = StorageObject("v1", "PersistentVolume", volume.meta);
  OrderedJson spec = OrderedJson::object();
  AddCommon(volume, spec);
  spec["capacity"]["storage"] = std::to_string(volume.bytes);
  if (!volume.driver.empty()) {
    spec["csi"] = {{"driver", volume.driver}, {"volumeHandle", volume.handle}};
  }
  if (!volume.claim.name.empty()) {
    spec["claimRef"] = {{"namespace", volume.claim.space}, {"name", volume.claim.name}};
    if (!volume.claim_uid.empty()) spec["claimRef"]["uid"] = volume.claim_uid;
  }
  if (volume.affinity) {
    spec["nodeAffinity"]["required"] = api::EncodeAffinity(
        *volume.affinity)["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  }
  out["spec"] = std::move(spec);
  out["status"]["phase"] = volume.available ? "Available" : "Bound";
  return out;
}

OrderedJson ClassObject(const api::StorageClass& one) {
  OrderedJson out = StorageObject("storage.k8s.io/v1", "StorageClass", one.meta);
  out["provisioner"] = one.provisioner;
  out["volumeBindingMode"] = one.waits ? "WaitForFirstConsumer" : "Immediate";
  for (const rules::NodeSelectorTerm& term : one.topologies) {
    OrderedJson expressions = OrderedJson::array();
    for (const fabric::SelectorExpression& expression : term.match_expressions) {
      expressions.push_back({{"key", expression.key}, {"values", expression.values}});
    }
    out["allowedTopologies"].push_back({{"matchLabelExpressions", std::move(expressions)}});
  }
  return out;
}

OrderedJson CsiNodeObject(const api::CsiNode& node) {
  OrderedJson out = StorageObject("storage.k8s.io/v1", "CSINode", node.meta);
  out["spec"]["drivers"] = OrderedJson::array();
  for (const auto& [driver, limit] : node.limits) {
    out["spec"]["drivers"].push_back(
        {{"name", driver}, {"nodeID", node.meta.key.name}, {"allocatable", {{"count", limit}}}});
  }
  return out;
}

}  // namespace

std::vector<OrderedJson> VolumeObjects(const api::Inputs& inputs) {
  std::vector<OrderedJson> objects;
  const Keys named = ClaimsIn(inputs);
  if (named.empty()) return objects;
  for (const api::StorageClass& one : inputs.storage_classes) objects.push_back(ClassObject(one));
  for (const api::CsiNode& one : inputs.csi_nodes) objects.push_back(CsiNodeObject(one));
  for (const api::PersistentVolume& one : inputs.volumes) {
    if (one.available || named.contains(one.claim)) objects.push_back(VolumeObject(one));
  }
  for (const api::VolumeClaim& one : inputs.volume_claims) {
    if (named.contains(one.meta.key)) objects.push_back(ClaimObject(one));
  }
  return objects;
}

}  // namespace weft::plan
