#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// A published family of node labels. So that jobs are portable, its levels get the same names in
// every family, narrowest first: leaf, spine, core, zone, datacenter, region, tier-6, tier-7...;
// its scale-up network is nvlink. GKE alone adds "host" below leaf, where several nodes share a
// physical host.
//
// The scale-up label is the family's own if some node has it; else nvidia.com/gpu.clique if some
// node has that one (it then requires a ComputeDomain); else there is no scale-up network. Links
// are left out (Assumed). A node selector, links, rails and a scale-up network given beside the
// preset stay as they are.
struct Preset {
  std::string_view name;    // "TopographV1"
  std::string_view source;  // who publishes the labels
};

std::span<const Preset> Presets();

// The spec with `preset` replaced by its levels and scale-up network. Only label keys that some
// selected node carries are used where a family has a variable number of tiers (all but OCI and
// CoreWeave); where none carries any, the family's narrowest, so that the refusal names a key.
// Errors kInvalid for an unknown preset, with the known names; for a preset beside levels.
Result<FabricSpec> ExpandPreset(FabricSpec spec, const SharedList<NodeFacts>& nodes);

// The preset whose narrowest label most accelerator nodes carry, in the order of Presets() on a
// tie; none where no family covers a node. Zones and racks, which every cloud labels, count only
// where no network family covers half of the nodes. Used when the cluster has no Fabric.
std::optional<std::string_view> RecognisePreset(const SharedList<NodeFacts>& nodes);

// Values that stand for "unknown" and must not become a shared domain ("no-imds-data", "").
bool IsPlaceholder(std::string_view value);

// True where the node carries an accelerator resource that Weft knows.
bool HasAccelerator(const NodeFacts& node);

}  // namespace weft::fabric
