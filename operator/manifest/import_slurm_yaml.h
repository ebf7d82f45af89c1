#pragma once

#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"
#include "operator/manifest/reader.h"

namespace weft::manifest {

// Whether the text is laid out like a topology.yaml: a line begins with the key `topology`.
bool HasTopologyKey(std::string_view text);

// One topology of a Slurm topology.yaml, which may hold several, as a cluster: the one called
// `name`, or with "" the first that is cluster_default, or the only one.
//
// tree   switches are the levels leaf, spine, core..., as in a topology.conf.
// block  blocks are the level leaf; block_sizes make no level (a note says so).
// ring, torus3d   see slurm_torus.h.
// flat   a Fabric without levels, and no Nodes: the file names none (a note says so).
// Errors  kInvalid: "FILE: line 12: [0].tree.switches[1].nodes: ...". Where no topology is chosen,
//         the message lists the names.
// Cost    O(n log n) in the nodes named; at most kMaxImportedNodes of them.
// Source  topology.yaml(5), Slurm 26.11.
Result<ImportedCluster> ImportSlurmYaml(const Source& source, const std::string& name,
                                        const ImportOptions& options);

}  // namespace weft::manifest
