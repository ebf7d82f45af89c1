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

// A published family of node labels. Levels have the same names in every family, so that jobs are
// portable; narrowest first: leaf, spine, core, zone, datacenter, region, tier-6, tier-7, ...; the
// scale-up network is nvlink. Only GKE adds "host" below leaf, if several nodes share a physical
// host.
//
// The scale-up label is the family's own if a node has it; else nvidia.com/gpu.clique if a node has
// that (the network then requires a ComputeDomain); else there is no scale-up network. Links are
// absent, so they are Assumed. A node selector, links, rails and a scale-up network that the spec
// gives beside the preset are kept.
struct Preset {
  std::string_view name;    // "TopographV1"
  std::string_view source;  // who publishes the labels
};

std::span<const Preset> Presets();

// The spec with `preset` replaced by its levels and scale-up network. In families with a variable
// number of tiers (all but OCI and CoreWeave), only label keys that a selected node has are used;
// if no node has any, the family's narrowest key is used, so that the refusal names a key. Levels
// that the spec has beside the preset, with nothing but a name and power_watts, are limits of power
// on the preset's levels.
// Errors  kInvalid for an unknown preset (names the known ones), for a preset beside other levels,
//         and for a limit on a level that the preset does not have (names those that it has).
Result<FabricSpec> ExpandPreset(FabricSpec spec, const SharedList<NodeFacts>& nodes);

// The preset whose narrowest label most accelerator nodes have (on a tie, the first of Presets());
// none if no node has such a label. Families of zones and racks, which every cloud labels, count
// only if every network family covers less than half of these nodes. Used if the cluster has no
// Fabric. `more`: as for HasAccelerator.
std::optional<std::string_view> RecognisePreset(const SharedList<NodeFacts>& nodes,
                                                std::span<const std::string> more = {});

// Whether the value means "unknown" ("no-imds-data", "") and must not become a shared domain.
bool IsPlaceholder(std::string_view value);

// Whether a node whose label `key` has this value is in none of the label's domains: the value is a
// placeholder, or, of a family's scale-up label, a zero however short ("0", "0.0"): such domains
// have identifiers and are not counted from zero, as racks and zones are.
bool MeansNoDomain(std::string_view key, std::string_view value);

// The label that GPU feature discovery writes on nodes of a multi-node NVLink network: the UUID of
// the NVLink domain and the clique in it.
//
// Source  NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery, 2026.
inline constexpr const char* kCliqueLabel = "nvidia.com/gpu.clique";

// The scale-up network of these cliques, which a job may use with a ComputeDomain; nothing if no
// node carries the label with a value that names a domain.
std::optional<ScaleUpSpec> CliquesOf(const SharedList<NodeFacts>& nodes);

// The Cloud TPU slice of several hosts that the node is one of: its GKE node pool. "" for other
// nodes, also for a slice of one host. Chips of two slices share no ICI, the network between TPUs.
// The slice has as many hosts as its topology ("2x2x4") has chips, divided by those of one host.
//
// Source  cloud.google.com/kubernetes-engine/docs/concepts/tpus, "Node pool types", 2026.
std::string_view TpuSliceOf(const NodeFacts& node);

// Whether the node is a Cloud TPU slice of its own: it has all chips of its topology ("2x4": 8).
// Such nodes may share a node pool, but only the data-centre network is between them.
bool IsWholeTpuSlice(const NodeFacts& node);

// Whether the node has an accelerator resource that Weft knows, or one of `more`.
bool HasAccelerator(const NodeFacts& node, std::span<const std::string> more = {});

}  // namespace weft::fabric
