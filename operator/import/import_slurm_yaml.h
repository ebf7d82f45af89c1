#pragma once

#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Whether the text looks like a topology.yaml: a line begins with the key `topology`.
bool HasTopologyKey(std::string_view text);

// Makes a cluster from one topology of a Slurm topology.yaml, which may hold several: the one
// called `name`; if `name` is "", the first that is cluster_default, or the only one.
//
// tree   switches become the levels leaf, spine, core..., as in a topology.conf.
// block  blocks become the level leaf; block_sizes add no level (a note says so).
// ring, torus3d   see slurm_torus.h.
// flat   a Fabric without levels or Nodes, as the file names no nodes (a note says so).
// A list of nodes or switches that cannot be read is left out with a warning (skipped_lines.h).
// Errors  kInvalid: "FILE: line 12: [0].tree.switches[1].nodes: ...". If no topology can be chosen,
//         the message lists the names.
// Cost    O(n log n), n: the named nodes, at most kMaxImportedNodes.
// Source  topology.yaml(5), Slurm 26.11.
Result<ImportedCluster> ImportSlurmYaml(const manifest::Source& source, const std::string& name,
                                        const ImportOptions& options);

}  // namespace weft::import
