#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// A family of node labels that somebody publishes. The emitted levels are always named spine,
// leaf, nvlink, node where they apply (wider ones: core, block, zone...), so that jobs are portable.
struct Preset {
  std::string_view name;    // "TopographV1"
  std::string_view source;  // who publishes the labels
};

std::span<const Preset> Presets();

// The spec with `preset` replaced by its levels and scale-up network. Only label keys that some
// node carries are used where a family has a variable number of tiers (topograph, AWS, Nebius).
// Errors kInvalid for an unknown preset, with the known names.
Result<FabricSpec> ExpandPreset(FabricSpec spec, const std::vector<NodeFacts>& nodes);

// The preset whose labels most accelerator nodes carry, in the order of Presets() on a tie; none
// where no family covers a node. Used when the cluster has no Fabric.
std::optional<std::string_view> RecognisePreset(const std::vector<NodeFacts>& nodes);

// Values that stand for "unknown" and must not become a shared domain ("no-imds-data", "").
bool IsPlaceholder(std::string_view value);

// True where the node carries an accelerator resource that Weft knows.
bool HasAccelerator(const NodeFacts& node);

// Whether the node's labels (and name, for the host name) satisfy the selector.
bool Matches(const LabelSelector& selector, const NodeFacts& node);

}  // namespace weft::fabric
