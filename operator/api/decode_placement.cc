#include <algorithm>

#include "operator/api/decode.h"
#include "operator/api/decode_model.h"
#include "operator/api/decode_own.h"
#include "operator/api/decode_topology.h"
#include "operator/api/names.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"

namespace weft::api {
namespace {

std::map<std::string, std::int64_t> DecodeIndexValues(const Field& field) {
  std::map<std::string, std::int64_t> values;
  const std::vector<Field> members = field.Members();
  if (members.size() > kIndexValuesAtMost) {
    field.Fail("must have at most " + std::to_string(kIndexValuesAtMost) + " values");
  }
  for (const Field& member : members) {
    values[std::string(member.key())] = member.Require().Int({.min = 0, .max = kReplicas.max});
  }
  return values;
}

std::vector<IndexLabel> DecodeIndexLabels(const Field& field) {
  std::vector<IndexLabel> labels;
  for (const Field& item : ReadItems(field, kIndexLabelsAtMost)) {
    item.RefuseUnknown({"key", "stride", "values"});
    IndexLabel label;
    label.key = ReadLabelKey(item["key"].Require());
    label.stride = item["stride"].Int(kDegree, label.stride);
    label.values = DecodeIndexValues(item["values"]);
    const bool again = std::any_of(labels.begin(), labels.end(),
                                   [&](const auto& other) { return other.key == label.key; });
    if (again) item.Fail("has the key " + label.key + ", which is given already");
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

// If the spec cannot be read, these fields still say which nodes the Placement holds.
void ReadHeldOf(const Field& root, Placement& placement) {
  const Field status = root["status"], nodes = status["nodes"];
  placement.nodes = nodes.StrList();
  for (const Field& node : nodes.Items()) {
    if (node.Str().empty()) node.Fail("must not be empty");
  }
  placement.excluded = DecodeExcludedNodes(status["excludedNodes"]);
  placement.retry = DecodeRetry(status["retry"]);
  placement.conditions = DecodeConditions(status["conditions"]);
  placement.workers = static_cast<std::uint32_t>(placement.nodes.size());
  placement.accelerator = DecodeAccelerator(root["spec"]["accelerator"]);
}

void ReadSpecOf(const Field& root, Placement& placement) { DecodeSpec(root["spec"], placement); }

Status Check(const Placement& placement) {
  if (!placement.nodes.empty() && placement.nodes.size() != placement.workers) {
    return Invalid("status.nodes: has " + std::to_string(placement.nodes.size()) + " nodes for " +
                   std::to_string(placement.workers) + " workers");
  }
  const Status shape = traffic::CheckShape(placement.model, placement.parallelism,
                                           placement.workers, placement.accelerator.per_worker);
  if (!shape) return Invalid("spec." + shape.error().message);
  return {};
}

}  // namespace

Result<Placement> DecodePlacement(const nlohmann::json& object, const Place& place,
                                  Reading reading) {
  constexpr OwnKind<Placement> kParts = {Scope::kNamespaced, ReadHeldOf, ReadSpecOf, Check};
  return DecodeOwn(kParts, object, place, reading);
}

}  // namespace weft::api
