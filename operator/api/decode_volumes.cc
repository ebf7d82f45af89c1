#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_requirements.h"
#include "operator/api/volumes.h"

namespace weft::api {
namespace {

constexpr const char* kOldClass = "volume.beta.kubernetes.io/storage-class";
constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
// The kubelet writes the largest of 32 bits for a driver with a larger limit.
constexpr IntRange kVolumesOfNode = {.min = 0, .max = 2'147'483'647};

// name, uid, resourceVersion and whether it is being deleted; annotations and bulk are dropped.
ObjectMeta ShortMeta(ObjectMeta meta) {
  ObjectMeta left;
  left.key = std::move(meta.key);
  left.uid = std::move(meta.uid);
  left.resource_version = std::move(meta.resource_version);
  left.deleting = meta.deleting;
  return left;
}

// The annotation comes first, as in kube-scheduler.
std::string ClassOf(const ObjectMeta& meta, const Field& spec) {
  const auto old = meta.annotations.At(kOldClass);
  return old ? std::string(*old) : spec["storageClassName"].Str();
}

// kube-scheduler matches a volume's terms against labels only, so that a field of the node never
// has a value.
std::vector<rules::NodeSelectorTerm> ByLabels(std::vector<rules::NodeSelectorTerm> terms) {
  std::erase_if(terms, [](const rules::NodeSelectorTerm& term) {
    return std::any_of(term.match_fields.begin(), term.match_fields.end(),
                       [](const auto& field) { return field.op == "In"; });
  });
  for (rules::NodeSelectorTerm& term : terms) term.match_fields.clear();
  return terms;
}

std::vector<rules::NodeSelectorTerm> DecodeTopologies(const Field& list) {
  std::vector<rules::NodeSelectorTerm> terms;
  for (const Field& item : list.Items()) {
    rules::NodeSelectorTerm term;
    for (const Field& one : item["matchLabelExpressions"].Items()) {
      term.match_expressions.push_back({one["key"].Str(), "In", one["values"].StrList()});
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace

bool SameVolume(const PersistentVolume& a, const PersistentVolume& b) {
  const auto facts = [](const PersistentVolume& one) {
    return std::tie(one.meta.uid, one.meta.labels, one.meta.deleting, one.affinity,
                    one.storage_class, one.attributes_class, one.bytes, one.access_modes, one.block,
                    one.driver, one.handle, one.claim, one.claim_uid, one.available);
  };
  return facts(a) == facts(b);
}

bool SameVolume(const VolumeClaim& a, const VolumeClaim& b) {
  const auto facts = [](const VolumeClaim& one) {
    return std::tie(one.meta.uid, one.meta.deleting, one.storage_class, one.attributes_class,
                    one.bytes, one.access_modes, one.block, one.selector, one.volume, one.served,
                    one.bound, one.lost, one.selected_node);
  };
  return facts(a) == facts(b);
}

bool SameVolume(const StorageClass& a, const StorageClass& b) {
  return a.meta.uid == b.meta.uid && a.provisioner == b.provisioner && a.waits == b.waits &&
         a.topologies == b.topologies;
}

bool SameVolume(const CsiNode& a, const CsiNode& b) {
  return a.meta.uid == b.meta.uid && a.limits == b.limits;
}

Result<PersistentVolume> DecodePersistentVolume(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"], csi = spec["csi"];
  PersistentVolume volume;
  volume.place = decoding.place();
  ObjectMeta meta = DecodeMeta(root["metadata"], Scope::kCluster);
  volume.storage_class = ClassOf(meta, spec);
  TextMap labels = std::move(meta.labels);
  volume.meta = ShortMeta(std::move(meta));
  volume.meta.labels = std::move(labels);
  volume.affinity = DecodeNodeSelector(spec["nodeAffinity"]["required"]);
  if (volume.affinity) volume.affinity = ByLabels(*std::move(volume.affinity));
  volume.attributes_class = spec["volumeAttributesClassName"].Str();
  volume.bytes = spec["capacity"]["storage"].Quantity();
  volume.access_modes = spec["accessModes"].StrList();
  volume.block = spec["volumeMode"].Str() == "Block";
  volume.driver = csi["driver"].Str();
  volume.handle = csi["volumeHandle"].Str();
  const Field claim = spec["claimRef"];
  volume.claim = {claim["namespace"].Str(), claim["name"].Str()};
  volume.claim_uid = claim["uid"].Str();
  volume.available = root["status"]["phase"].Str() == "Available";
  if (Status done = decoding.status(); !done) return done.error();
  return volume;
}

Result<VolumeClaim> DecodeVolumeClaim(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"];
  VolumeClaim claim;
  claim.place = decoding.place();
  ObjectMeta meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  claim.storage_class = ClassOf(meta, spec);
  claim.attributes_class = spec["volumeAttributesClassName"].Str();
  claim.bytes = spec["resources"]["requests"]["storage"].Quantity();
  claim.access_modes = spec["accessModes"].StrList();
  claim.block = spec["volumeMode"].Str() == "Block";
  if (const Field selector = spec["selector"]; selector.present()) {
    claim.selector = DecodeLabelSelector(selector);
  }
  claim.volume = spec["volumeName"].Str();
  const std::string phase = root["status"]["phase"].Str();
  claim.served = !phase.empty();
  // Without a status: from a file that says what there will be.
  claim.bound = !claim.volume.empty() &&
                (meta.annotations.contains(kBindCompleted) || phase == "Bound" || phase.empty());
  claim.lost = phase == "Lost";
  if (const auto node = meta.annotations.At(kSelectedNode)) claim.selected_node = *node;
  claim.meta = ShortMeta(std::move(meta));
  if (Status done = decoding.status(); !done) return done.error();
  return claim;
}

Result<StorageClass> DecodeStorageClass(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  StorageClass one;
  one.place = decoding.place();
  one.meta = ShortMeta(DecodeMeta(root["metadata"], Scope::kCluster));
  one.provisioner = root["provisioner"].Str();
  one.waits = root["volumeBindingMode"].Str() == "WaitForFirstConsumer";
  one.topologies = DecodeTopologies(root["allowedTopologies"]);
  if (Status done = decoding.status(); !done) return done.error();
  return one;
}

Result<CsiNode> DecodeCsiNode(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  CsiNode node;
  node.place = decoding.place();
  node.meta = ShortMeta(DecodeMeta(root["metadata"], Scope::kCluster));
  for (const Field& driver : root["spec"]["drivers"].Items()) {
    const auto count = driver["allocatable"]["count"].OptionalInt(kVolumesOfNode);
    if (count) node.limits[driver["name"].Str()] = *count;
  }
  if (Status done = decoding.status(); !done) return done.error();
  return node;
}

}  // namespace weft::api
