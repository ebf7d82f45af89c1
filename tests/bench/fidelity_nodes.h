#pragma once

#include <cstdint>
#include <span>

namespace weft::fidelity {

// A layout and the seconds that its step took.
struct NodesStep {
  std::int64_t tensor, data, pipeline, micro;
  double seconds;
};

struct NodesModel {
  const char* name;
  std::int64_t gpus, batch, hidden, heads, layers;
  std::span<const NodesStep> steps;
};

// Steps of Megatron-DeepSpeed on 8 to 64 nodes of eight A100 with 100 GB/s of network a node.
//
// Source  VIA-Research/vTrain, data/ground_truth_multi.csv, 2024: copyright VIA Research Group at
//         KAIST, MIT licence.
std::span<const NodesModel> NodesModels();

}  // namespace weft::fidelity
