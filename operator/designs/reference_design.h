#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::designs {

// A published design of a training cluster, reduced to what matters for placement.
struct Design {
  std::string_view name;  // as users write it
  std::string_view summary;
  std::string_view source;
  int default_nodes;
  int gpus_per_node;
};

std::span<const Design> Designs();

// A network of racks that a user describes. A rack is a domain of the level leaf; a pod of racks,
// if there are pods, is a domain of the level spine.
struct Geometry {
  int racks = 0;                       // 0: no geometry is given
  int nodes_per_rack = 0;              // 0: 16
  int racks_per_pod = 0;               // 0: no pods; the last pod may have fewer
  std::string link = "InfiniBandNDR";  // link type of the network
  std::string node_link = "NVLink4";   // link type inside a node
  // Oversubscription between racks, and between pods; absent: 100.
  std::vector<int> taper_percents;
  std::string accelerator = {};  // the Fabric's acceleratorModel; "": none
  int rack_watts = 0;            // powerWatts of the level leaf; 0: none
};
inline constexpr int kMaxRackWatts = 1'000'000'000;  // api/names.h, kWatts
inline constexpr int kMaxTaperPercent = 1'000'000;   // api/names.h, kOversubscriptionPercent

struct DesignOptions {
  std::string design;  // "": the geometry
  Geometry geometry;
  int nodes = 0;               // 0: the design's default
  int fragmented_percent = 0;  // share of accelerators that earlier jobs use
  std::uint64_t seed = 1;      // for the earlier jobs
  int gpus_per_node = 0;       // 0: the design's number, or 8 for a geometry
  std::vector<fabric::AcceleratorSpec> accelerators = {};  // of every Fabric
};

inline constexpr int kMaxDesignNodes = 1 << 20;

// Nodes, Fabric and the pods of earlier jobs; the options determine all of them. The last domain of
// a level is partial if `nodes` is not a multiple of its size.
//
// Errors  kInvalid, naming the flag: an unknown design (the message lists the known ones), a number
//         out of range, or not exactly one of design and geometry.
// Cost    O(nodes * labels).
Result<manifest::ImportedCluster> GenerateDesign(const DesignOptions& options);

}  // namespace weft::designs
