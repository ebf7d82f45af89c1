#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Reads a file that the topology.conf `conf`, or a file included by it, includes as `path`. The
// name of the Source stands in messages.
using IncludeReader =
    std::function<Result<manifest::Source>(const std::string& path, const std::string& conf)>;

// Whether the text looks like a topology.conf or a topology.yaml.
bool LooksLikeSlurm(std::string_view text);
// Whether a Slurm file is a topology.yaml (import_slurm_yaml.h): by its text, or by its name if the
// text is not recognised.
bool IsTopologyYaml(const manifest::Source& source);

// Makes a cluster from a Slurm topology.conf of the tree plug-in (SwitchName=, Switches=, Nodes=),
// the block plug-in (BlockName=, Nodes=, BlockSizes=) or the ring plug-in (RingName=, Nodes=), with
// labels weft.dev/leaf, weft.dev/spine, ... The syntax is that of slurm_conf.h. The output of
// `scontrol show topology` is read too, in which a switch also has the nodes of its children.
//
// Blocks become domains of the level leaf. BlockSizes only says how many consecutive blocks Slurm
// plans together, so it adds no level (a note says so). DEFAULT records and LinkSpeed are ignored.
// A line that is not in this format is left out with a warning (skipped_lines.h).
// Errors  kInvalid: "FILE: line 12: ...". An Include fails without `include`, or with its error.
// Cost    O(n log n), n: the named nodes, at most kMaxImportedNodes.
// Source  topology.conf(5), Slurm 26.11.
Result<ImportedCluster> ImportSlurm(const manifest::Source& source, const ImportOptions& options,
                                    const IncludeReader& include = {});

}  // namespace weft::import
