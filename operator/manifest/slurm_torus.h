#pragma once

#include "operator/api/json_reader.h"
#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {

// The plug-ins torus3d and ring of a Slurm topology.yaml: `config` is what stands below their key.
//
// Each torus or ring is a domain of the level leaf. The Fabric's `torus` has the places, which
// nodes carry as the labels weft.dev/torus-x, -y and -z; they wrap around. The toruses of one
// Fabric have one size: of toruses with several that is an error, and rings with several keep only
// their level (a note says so). Errors  kInvalid: "[0].torus3d.toruses[1].nodes: ...", without the
// file's name; or what `decoding`,
//         which `config` is a field of, has noted.
// Source  topology.yaml(5), Slurm 26.11.
Result<ImportedCluster> ReadSlurmToruses(const api::Decoding& decoding, const api::Field& config,
                                         const ImportOptions& options);
Result<ImportedCluster> ReadSlurmRings(const api::Decoding& decoding, const api::Field& config,
                                       const ImportOptions& options);

}  // namespace weft::manifest
