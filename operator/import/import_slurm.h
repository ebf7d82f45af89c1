#pragma once

#include <string_view>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Whether the text looks like a topology.conf or a topology.yaml.
bool LooksLikeSlurm(std::string_view text);
// Whether a Slurm file is a topology.yaml (import_slurm_yaml.h): by its text, or by its name if the
// text is not recognised.
bool IsTopologyYaml(const manifest::Source& source);

// Makes a cluster from a Slurm topology.conf of the tree plug-in (SwitchName=, Switches=, Nodes=)
// or the block plug-in (BlockName=, Nodes=, BlockSizes=), with labels weft.dev/leaf,
// weft.dev/spine, ...
//
// Blocks become domains of the level leaf. BlockSizes only says how many consecutive blocks Slurm
// plans together, so it adds no level (a note says so). DEFAULT records and LinkSpeed are ignored.
// Errors  kInvalid: "FILE: line 12: ...".
// Cost    O(n log n), n: the named nodes, at most kMaxImportedNodes.
// Source  topology.conf(5), Slurm 24.05.
Result<ImportedCluster> ImportSlurm(const manifest::Source& source, const ImportOptions& options);

}  // namespace weft::import
