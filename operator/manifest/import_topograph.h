#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {

// A topograph model ("switches", "blocks" with Slurm host lists and annotations) as a cluster with
// topograph's own labels: fabric.topograph.run/tier-N (0 closest), accelerator.topograph.run/domain
// and sub-domain; labels of switches go to the nodes below, the closest switch's first.
//
// `source` is the file's name in messages; read the text with ReadDocument.
// Errors  kInvalid with the field's path: "FILE: blocks[2].nodes[0]: ...".
// Source  NVIDIA/topograph, tests/models and docs/reference/node-labels.md (v1.0.0, 2026).
Result<ImportedCluster> ImportTopograph(const nlohmann::json& model, const std::string& source,
                                        const ImportOptions& options);

}  // namespace weft::manifest
