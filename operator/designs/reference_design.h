#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/designs/geometry.h"
#include "operator/import/imported_cluster.h"

namespace weft::designs {

struct DesignOptions {
  std::string design;  // "": the geometry
  Geometry geometry;
  int nodes = 0;               // 0: the design's default
  int fragmented_percent = 0;  // share of accelerators that earlier jobs use
  std::uint64_t seed = 1;      // for the earlier jobs
  int gpus_per_node = 0;       // 0: the design's number, or 8 for a geometry
  std::vector<fabric::AcceleratorSpec> accelerators = {};  // of every Fabric
  // The Fabric's name. Node names begin with it, and the Fabric selects its nodes by a label, so
  // that several generated fabrics can be used together. "": "default", which selects all nodes.
  std::string fabric_name = {};
};

// Nodes, Fabric and the pods of earlier jobs; the options determine all of them. The last domain of
// a level is partial if `nodes` is not a multiple of its size.
//
// Errors  kInvalid, naming the flag: an unknown design (the message lists the known ones), a number
//         out of range, a fabric name that cannot begin a node's name, an unknown type of link, or
//         not exactly one of design and geometry.
// Cost    O(nodes * labels).
Result<import::ImportedCluster> GenerateDesign(const DesignOptions& options);

}  // namespace weft::designs
