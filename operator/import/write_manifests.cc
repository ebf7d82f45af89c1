#include "operator/import/write_manifests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/manifest/writer.h"

namespace weft::import {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kBytesPerObject = 700;  // typical size of a Node's text, for one reserve
constexpr const char* kPauseImage = "registry.k8s.io/pause:3.9";

OrderedJson FabricObject(const fabric::FabricSpec& spec) {
  api::Fabric fabric;
  fabric.meta.key.name = spec.name;
  fabric.spec = spec;
  return api::EncodeFabric(fabric);
}

OrderedJson NodeObject(const fabric::NodeFacts& node) {
  OrderedJson out = {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", node.name}}}};
  if (!node.labels.empty()) out["metadata"]["labels"] = node.labels;
  api::EncodeNodeFacts(node, out);
  out["status"]["capacity"] = out["status"]["allocatable"];
  return out;
}

OrderedJson PodObject(const BusyPod& pod) {
  const OrderedJson amounts = api::EncodeResources(pod.requests);
  const OrderedJson container = {{"name", "main"},
                                 {"image", kPauseImage},
                                 {"resources", {{"limits", amounts}, {"requests", amounts}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"namespace", "default"}, {"name", pod.name}}},
          {"spec", {{"nodeName", pod.node}, {"containers", OrderedJson::array({container})}}},
          {"status", {{"phase", "Running"}}}};
}

template <typename Thing>
std::vector<const Thing*> ByName(const std::vector<Thing>& things) {
  std::vector<const Thing*> sorted;
  for (const Thing& thing : things) sorted.push_back(&thing);
  std::sort(sorted.begin(), sorted.end(),
            [](const Thing* a, const Thing* b) { return a->name < b->name; });
  return sorted;
}

}  // namespace

std::string WriteManifests(const ImportedCluster& cluster) {
  std::string out;
  out.reserve(kBytesPerObject * (cluster.nodes.size() + cluster.pods.size()) + 4096);
  // Writes one object at a time, so that memory holds only the text and one object.
  const auto write = [&](const OrderedJson& object) { out += "---\n" + manifest::ToYaml(object); };
  write(FabricObject(cluster.fabric));
  for (const fabric::FabricSpec& fabric : cluster.more_fabrics) write(FabricObject(fabric));
  for (const auto* node : ByName(cluster.nodes)) write(NodeObject(*node));
  for (const auto* pod : ByName(cluster.pods)) write(PodObject(*pod));
  return out;
}

}  // namespace weft::import
