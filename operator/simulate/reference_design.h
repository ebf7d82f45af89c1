#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::simulate {

// A published design of a training cluster, limited to what matters to placement.
struct Design {
  std::string_view name;  // as users type it
  std::string_view summary;
  std::string_view source;
  int default_nodes;
  int gpus_per_node;
};

std::span<const Design> Designs();

// A network of racks as a user describes it: a rack is a domain of level leaf, and a pod of racks,
// where there are pods, one of level spine.
struct Geometry {
  int racks = 0;                       // 0: nothing is described
  int nodes_per_rack = 0;              // 0: 16
  int racks_per_pod = 0;               // 0: no pods; the last pod may have fewer
  std::string link = "InfiniBandNDR";  // type, of the network
  std::string node_link = "NVLink4";   // type, inside a node
  // Oversubscription between racks, and between pods; absent: 100.
  std::vector<int> taper_percents;
};
inline constexpr int kMaxTaperPercent = 1'000'000;  // api/names.h, kOversubscriptionPercent

struct DesignOptions {
  std::string design;  // "": the geometry
  Geometry geometry;
  int nodes = 0;               // 0: the design's default
  int fragmented_percent = 0;  // of all accelerators, held by running pods of earlier jobs
  std::uint64_t seed = 1;      // of the earlier jobs
  int gpus_per_node = 0;       // 0: the design's own; 8 of a geometry
};

inline constexpr int kMaxDesignNodes = 1 << 20;

// Nodes, Fabric and the pods of earlier jobs, deterministic from the options. The last domain of
// each level is partial where `nodes` is no multiple of it.
//
// Errors  kInvalid, naming the flag: an unknown design (with the known ones), a number out of
//         range, a design and a geometry, or neither.
// Cost    O(nodes * labels).
Result<manifest::ImportedCluster> GenerateDesign(const DesignOptions& options);

}  // namespace weft::simulate
