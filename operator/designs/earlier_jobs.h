#pragma once

#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/import/imported_cluster.h"

namespace weft::designs {

// The nodes of one accelerator family.
struct Fleet {
  std::vector<std::string> nodes;
  std::string resource;
  int gpus_per_node = 0;
};

// Running pods that use `percent` of the fleet's accelerators (to within one node). They are what
// remains after jobs of mixed size filled the fleet first-fit by name and most of them ended in
// random order: some nodes are full and some partly used, in all domains.
//
// Names are <prefix>-<job>-<pod>. The generator's state determines the result.
// Source  Sizes after Hu et al., "Characterization and Prediction of Deep Learning Workloads in
//         Large-Scale GPU Datacenters", SC 2021: over half of the jobs use one GPU; most GPU time
//         goes to jobs with eight or more.
std::vector<import::BusyPod> EarlierJobs(const Fleet& fleet, int percent, const std::string& prefix,
                                         SplitMix64& random);

}  // namespace weft::designs
