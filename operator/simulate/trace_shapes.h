#pragma once

#include <cstdint>
#include <string>

#include "operator/api/training_job.h"
#include "operator/fabric/fabric.h"

namespace weft::simulate {

// The nodes that jobs of a trace are cut for: the most common kind of the fabric.
struct NodeKind {
  std::string resource;            // of the accelerators
  std::uint32_t accelerators = 0;  // 0: no node has any
};
NodeKind CommonNode(const fabric::Fabric& fabric);

// The TrainingJob that stands for a job of a trace, of which only the number of GPUs is known.
//
//   fewer GPUs than a node   one worker with so many; it sends nothing to other nodes
//   otherwise                workers of whole nodes, the number rounded up
//
// A job of several nodes trains a transformer as people train it at that size, with the optimizer's
// state sharded over the data-parallel ranks:
//
//   GPUs        model          tensor  pipeline  context length  micro-batches
//   up to 64    Llama 3 8B     2       1         8,192           4
//   up to 512   Llama 3 70B    8       4         8,192           16
//   more        Llama 3 405B   8       16        8,192           32, activations recomputed
//
// Tensor and pipeline are the largest powers of two up to these that divide the GPUs of a node and
// the number of nodes; data parallelism takes what is left.
//
// Source  sizes: Grattafiori et al., "The Llama 3 Herd of Models", 2024, tables 3 and 4; degrees:
//         as NVIDIA's and Meta's published configurations of these models, rounded to what divides.
api::TrainingJob TraceShape(const NodeKind& node, std::uint32_t gpus);

}  // namespace weft::simulate
