#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Whether the text has a topograph model's members. A Slurm topology.yaml has some of them too.
bool LooksLikeTopograph(std::string_view text);

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
// The same from the text, with the line in errors: "FILE: line 12: blocks[2].nodes[0]: ...".
Result<ImportedCluster> ImportTopographText(const manifest::Source& source,
                                            const ImportOptions& options);

}  // namespace weft::import
