#include <algorithm>

#include "operator/api/decode.h"
#include "operator/api/decode_model.h"
#include "operator/api/decode_topology.h"
#include "operator/api/names.h"
#include "operator/traffic/traffic.h"

namespace weft::api {
namespace {

std::vector<IndexLabel> DecodeIndexLabels(const Field& field) {
  std::vector<IndexLabel> labels;
  for (const Field& item : ReadItems(field, kIndexLabelsAtMost)) {
    item.RefuseUnknown({"key", "stride"});
    IndexLabel label;
    label.key = ReadLabelKey(item["key"].Require());
    label.stride = item["stride"].Int(kDegree, label.stride);
    const bool again = std::any_of(labels.begin(), labels.end(),
                                   [&](const auto& other) { return other.key == label.key; });
    if (again) item.Fail("has a key that is given already");
    labels.push_back(std::move(label));
  }
  return labels;
}

void DecodeSpec(const Field& spec, Placement& placement) {
  spec.Require().RefuseUnknown({"workers", "fabricName", "accelerator", "model", "parallelism",
                                "topology", "podSelector", "workerIndexLabels"});
  placement.workers = static_cast<std::uint32_t>(spec["workers"].Require().Int(kReplicas));
  placement.fabric_name = ReadFabricName(spec["fabricName"]);
  spec["accelerator"].Require()["perWorker"].Require();
  placement.accelerator = DecodeAccelerator(spec["accelerator"]);
  placement.model = DecodeModel(spec["model"]);
  placement.parallelism = DecodeParallelism(spec["parallelism"]);
  placement.topology = DecodeTopology(spec["topology"]);
  if (const Field selector = spec["podSelector"]; selector.present()) {
    placement.pod_selector = DecodeStrictSelector(selector, Comparisons::kNone);
  }
  const Field labels = spec["workerIndexLabels"];
  placement.worker_index_labels = DecodeIndexLabels(labels);
  if (!placement.worker_index_labels.empty() && !placement.pod_selector) {
    labels.Fail("needs podSelector");
  }
}

void DecodeNodes(const Field& nodes, Placement& placement) {
  placement.nodes = nodes.StrList();
  if (!placement.nodes.empty() && placement.nodes.size() != placement.workers) {
    nodes.Fail("has " + std::to_string(placement.nodes.size()) + " nodes for " +
               std::to_string(placement.workers) + " workers");
  }
  for (const Field& node : nodes.Items()) {
    if (node.Str().empty()) node.Fail("must not be empty");
  }
}

}  // namespace

Result<Placement> DecodePlacement(const nlohmann::json& object, const Place& place) {
  Placement placement;
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  placement.place = decoding.place();
  placement.meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  DecodeSpec(root["spec"], placement);
  DecodeNodes(root["status"]["nodes"], placement);
  placement.excluded = DecodeExcludedNodes(root["status"]["excludedNodes"]);
  placement.conditions = DecodeConditions(root["status"]["conditions"]);
  if (Status decoded = decoding.status(); !decoded) return decoded.error();
  const Status shape = traffic::CheckShape(placement.model, placement.parallelism,
                                           placement.workers, placement.accelerator.per_worker);
  if (!shape) return Invalid(placement.place + ": spec." + shape.error().message);
  placement.raw = MakeRaw(object);
  return placement;
}

}  // namespace weft::api
