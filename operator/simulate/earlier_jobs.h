#pragma once

#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::simulate {

// The nodes of one accelerator family.
struct Fleet {
  std::vector<std::string> nodes;
  std::string resource;
  int gpus_per_node = 0;
};

// Running pods that hold `percent` of the fleet's accelerators (exact to less than one node), as
// they lie after jobs of mixed size came, filled the fleet first-fit by name, and most ended in
// random order: some nodes full, some partly used, over all domains.
//
// Names are <prefix>-<job>-<pod>. Deterministic from the generator's state.
// Source  Sizes after Hu et al., "Characterization and Prediction of Deep Learning Workloads in
//         Large-Scale GPU Datacenters", SC 2021: over half of the jobs take one GPU, most GPU
//         time goes to those of eight and more.
std::vector<manifest::BusyPod> EarlierJobs(const Fleet& fleet, int percent,
                                           const std::string& prefix, SplitMix64& random);

}  // namespace weft::simulate
