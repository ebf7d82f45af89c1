#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"

namespace weft::designs {

// A network of racks that a user describes. A rack is a domain of the level leaf; a pod of racks,
// if there are pods, is a domain of the level spine.
struct Geometry {
  int racks = 0;           // 0: no geometry is given
  int nodes_per_rack = 0;  // 0: kDefaultNodesPerRack
  int racks_per_pod = 0;   // 0: no pods; the last pod may have fewer
  // Link types, each "TYPE" for all levels or "LEVEL=TYPE" for one: outside, spine, leaf or nvlink,
  // the scale-up domain. A level that none names has kDefaultLink.
  std::vector<std::string> links = {};
  std::string node_link = {};  // link type inside a node; "": kDefaultNodeLink
  // Oversubscription between racks, and between pods; absent: 100.
  std::vector<int> taper_percents = {};
  int rails = 0;                 // of each node; in each rack a rail has its own leaf; 0: none
  int nodes_per_scale_up = 0;    // consecutive nodes in a scale-up domain (NVLink); 0: no domains
  std::string accelerator = {};  // the Fabric's acceleratorModel; "": none
  int rack_watts = 0;            // powerWatts of the level leaf; 0: none
};
inline constexpr int kDefaultNodesPerRack = 16;
inline constexpr const char* kDefaultLink = "InfiniBandNDR";
inline constexpr const char* kDefaultNodeLink = "NVLink4";
inline constexpr int kMaxRackWatts = 1'000'000'000;  // api/names.h, kWatts
inline constexpr int kMaxTaperPercent = 1'000'000;   // api/names.h, kOversubscriptionPercent
inline constexpr int kMaxRails = 64;                 // api/names.h, kRails
inline constexpr int kMaxDesignNodes = 1 << 20;

Status CheckRange(const char* flag, int value, int low, int high);

// Checks that the geometry has racks and does not contradict itself.
// Errors  kInvalid, naming the flag, its value and what is allowed.
Status CheckGeometry(const Geometry& geometry);

// Checks that nothing describes racks, because the command names a design.
Status CheckNoGeometry(const Geometry& geometry);

}  // namespace weft::designs
