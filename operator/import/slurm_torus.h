#pragma once

#include "operator/api/json_reader.h"
#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"

namespace weft::import {

// Makes a cluster from torus3d or ring of a Slurm topology.yaml; `config` is the value of that key.
//
// Each torus or ring is a domain of the level leaf. The Fabric's `torus` reads a node's place from
// the labels weft.dev/torus-x, -y and -z; all dimensions wrap around. Its dimensions have the size
// of most toruses; torus.shapes names the others.
// Errors  kInvalid without the file's name: "[0].torus3d.toruses[1].nodes: ..."; or the error that
//         `decoding`, to which `config` belongs, has noted. At most 64 other sizes fit a Fabric.
// Source  topology.yaml(5), Slurm 26.11.
Result<ImportedCluster> ReadSlurmToruses(const api::Decoding& decoding, const api::Field& config,
                                         const ImportOptions& options);
Result<ImportedCluster> ReadSlurmRings(const api::Decoding& decoding, const api::Field& config,
                                       const ImportOptions& options);

// An error at a field of a topology.yaml: "topologies[0].block: ...".
Error AtField(const api::Field& field, const std::string& what);

}  // namespace weft::import
