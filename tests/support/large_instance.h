#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/support/random_instance.h"

namespace weft::testing {

// What large jobs look like: the axis that weighs most, and the cluster it runs on.
enum class Family : std::uint8_t {
  kExpertsOnRacks,      // experts on NVL72 racks: 18 trays of 4 GPUs
  kExpertsPreferRack,   // the same, with groups that prefer the rack's NVLink
  kExpertsAcrossNodes,  // experts over several nodes of 8 GPUs
  kHybridSharding,
  kFullSharding,    // one ring over all ranks
  kUnevenRacks,     // experts or context on racks of 16, 17 and 18 usable trays
  kTensorOnTrays,   // tensor 8 on trays of 4 GPUs
  kContext,         // context 8 and 16
  kSeveralANode,    // several workers on one node
  kTensorTwoNodes,  // tensor 16 over two nodes
  kGrid,            // tensor 8 x pipeline x data
  kLevels,          // preferred and required levels
  kRails,           // a rail-optimised fabric, some nodes with a rail missing
  kCrossing,        // NVLink domains that cross the switches' tree
  kSpareTrays,      // GB300: two of a rack's 18 trays are kept as spares
  kTapered,         // RoCE, 3:1 at the leaves and again at the spines, 4 GPUs a node
  kMI300XRails,     // MI300X nodes with a leaf for each of 8 rails
  kPrimes,          // a prime number of workers in one ring or pipeline
  kMixedFree,       // nodes with 1 to 8 free GPUs, 1, 2 or 4 GPUs a worker
  kTorus,           // hosts of TPU v5p on a 3D torus
};
inline constexpr std::size_t kFamilies = 20;
std::string_view FamilyName(Family family);

struct LargeOptions {
  std::uint32_t fewest_nodes = 1'000, most_nodes = 20'000;
  // Equal: the job has exactly so many workers; a job with a prime number has a few less.
  std::uint32_t fewest_workers = 64, most_workers = 4'096;
  std::uint32_t most_percent_used = 90;  // of the GPUs, by earlier jobs
};

// One large placement problem: a cluster that is 30 to 90 % full of earlier jobs, whole domains and
// fragments, and a job of the family that has enough free slots; where no job fits the cluster,
// another cluster is drawn. The same seed gives the same problem everywhere.
RandomInstance MakeLargeInstance(Family family, std::uint64_t seed,
                                 const LargeOptions& options = {});

}  // namespace weft::testing
