#pragma once

#include <optional>
#include <span>
#include <string>

#include "operator/api/accelerator.h"
#include "operator/api/gang_annotations.h"
#include "operator/api/placement.h"
#include "operator/base/result.h"
#include "operator/fabric/spec.h"

namespace weft::cluster {

// The accelerator among a pod's requests and how many of them; nothing if it requests none. `more`:
// FabricSpec::accelerator_resources.
std::optional<api::Accelerator> AcceleratorOf(const fabric::Resources& requests,
                                              std::span<const std::string> more = {});

// Sets model, parallelism and topology of a Placement whose workers and accelerator are known to
// what the annotations ask for. Kueue's label keys become names of levels: those of the Fabric of
// placement.fabric_name, else of the first of `fabrics` that has all of them; with several Fabrics
// fabric_name is set to it. The key kubernetes.io/hostname is the level "node".
//
// Slices    groups of spec.topology: axes whose degrees are adjacent ranks of that many pods. If no
//           parallelism is given, one with such axes is made; without a model only the groups use
//           it.
// `fabrics` as built: presets are replaced by their levels.
// Errors    kInvalid, which names the annotation, as DecodeGangAnnotations; the message lists the
//           label keys that are known.
Status Resolve(const api::GangAnnotations& annotations,
               std::span<const fabric::FabricSpec* const> fabrics, api::Placement& placement);

}  // namespace weft::cluster
