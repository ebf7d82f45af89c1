#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "operator/api/kinds.h"

namespace weft::api {

// JSON of our kinds, keys in the order of the reference (operator/docs/api.md). Default values that
// carry no information are left out. Decoding what was encoded gives the same value back:
// quantities are written exactly, and what decoding fills in is written out.

nlohmann::ordered_json EncodeModel(const traffic::Model& model);
nlohmann::ordered_json EncodeParallelism(const traffic::Parallelism& parallelism);
nlohmann::ordered_json EncodeTopology(const TopologySpec& topology);
nlohmann::ordered_json EncodeAccelerator(const Accelerator& accelerator);
nlohmann::ordered_json EncodeLabelSelector(const fabric::LabelSelector& selector);
nlohmann::ordered_json EncodeConditions(const std::vector<Condition>& conditions);
nlohmann::ordered_json EncodeExcludedNodes(const std::vector<ExcludedNode>& nodes);
nlohmann::ordered_json EncodeRetry(const Retry& retry);

// Amounts of allocatable, requests or limits.
nlohmann::ordered_json EncodeResources(const fabric::Resources& resources);
// Puts `spec` and `status` of a Node into `out`: what decisions read of it.
void EncodeNodeFacts(const fabric::NodeFacts& node, nlohmann::ordered_json& out);

// `spec` of the kinds. The name of a FabricSpec is written to the object's metadata.
nlohmann::ordered_json EncodeFabricSpec(const fabric::FabricSpec& spec);
nlohmann::ordered_json EncodePlacementSpec(const Placement& placement);

// Whole objects, with apiVersion, kind and metadata.
nlohmann::ordered_json EncodeFabric(const Fabric& fabric);
// The status is taken from the value (nodes, excluded nodes and conditions).
nlohmann::ordered_json EncodePlacement(const Placement& placement);
// With `status` as the status, for callers that add fields; left out if null.
nlohmann::ordered_json EncodePlacement(const Placement& placement, nlohmann::ordered_json status);

}  // namespace weft::api
