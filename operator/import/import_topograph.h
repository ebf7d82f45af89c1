#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"

namespace weft::import {

// Makes a cluster from a topograph model ("switches", "blocks" with Slurm host lists and
// annotations), with topograph's own labels: fabric.topograph.run/tier-N (0 is closest),
// accelerator.topograph.run/domain and sub-domain. Nodes get the labels of the switches above them;
// on a conflict, the closest switch's label.
//
// `source` is the file's name in messages; read the text with ReadDocument.
// Errors  kInvalid with the field's path: "FILE: blocks[2].nodes[0]: ...".
// Source  NVIDIA/topograph, tests/models and docs/reference/node-labels.md (v1.0.0, 2026).
Result<ImportedCluster> ImportTopograph(const nlohmann::json& model, const std::string& source,
                                        const ImportOptions& options);

}  // namespace weft::import
