#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "operator/api/accelerator.h"
#include "operator/api/fabric.h"
#include "operator/api/placement.h"
#include "operator/api/topology_spec.h"

namespace weft::api {

// JSON of our kinds, keys in the order of operator/docs/api.md. Defaults that carry no information
// are left out. Decoding the JSON gives the same value: quantities are exact, and values that
// decoding would fill in are written.

nlohmann::ordered_json EncodeModel(const traffic::Model& model);
nlohmann::ordered_json EncodeParallelism(const traffic::Parallelism& parallelism);
nlohmann::ordered_json EncodeTopology(const TopologySpec& topology);
nlohmann::ordered_json EncodeAccelerator(const Accelerator& accelerator);
nlohmann::ordered_json EncodeLabelSelector(const fabric::LabelSelector& selector);
nlohmann::ordered_json EncodeConditions(const std::vector<Condition>& conditions);
nlohmann::ordered_json EncodeExcludedNodes(const std::vector<ExcludedNode>& nodes);
nlohmann::ordered_json EncodeRetry(const Retry& retry);

// The amounts in allocatable, requests or limits.
nlohmann::ordered_json EncodeResources(const fabric::Resources& resources);
// Adds to `out` those parts of a Node's `spec` and `status` that decisions read.
void EncodeNodeFacts(const fabric::NodeFacts& node, nlohmann::ordered_json& out);

// The `spec` of our kinds. The name of a FabricSpec is not in it: it belongs in the metadata.
nlohmann::ordered_json EncodeFabricSpec(const fabric::FabricSpec& spec);
nlohmann::ordered_json EncodePlacementSpec(const Placement& placement);

// Whole objects, with apiVersion, kind and metadata.
nlohmann::ordered_json EncodeFabric(const Fabric& fabric);
// The JSON's status has the nodes, excluded nodes and conditions of `placement`.
nlohmann::ordered_json EncodePlacement(const Placement& placement);
// The same with the given `status`, for callers that add fields; without a status if null.
nlohmann::ordered_json EncodePlacement(const Placement& placement, nlohmann::ordered_json status);

}  // namespace weft::api
