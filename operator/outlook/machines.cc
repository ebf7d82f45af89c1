#include "operator/outlook/machines.h"

#include <algorithm>

#include "operator/outlook/constants.h"

namespace weft::outlook {

namespace {

// A group of `ranks` at `stride` in rank order.
Path PathOf(const Machines& machines, double ranks, double stride) {
  Path path;
  path.ranks = ranks;
  if (ranks <= 1) return path;
  const double inside = std::clamp(machines.accelerators / stride, 1.0, ranks);
  const double up = machines.scale_up_bytes_per_second;
  const double out = machines.network_bytes_per_second;
  if (inside > 1) path.crossings.push_back({up, up, 1, 1, kStepLatencySeconds, true});
  if (inside < ranks) path.crossings.push_back({out, out, inside, 1, kStepLatencySeconds, false});
  return path;
}

}  // namespace

Network NetworkOn(const Machines& machines, const Layout& layout) {
  const Degrees d = DegreesOf(layout);
  Network network;
  const double stage = static_cast<double>(layout.ranks) / d.pipeline;
  network[traffic::Axis::kTensor] = PathOf(machines, d.tensor, 1);
  network[traffic::Axis::kContext] = PathOf(machines, d.context, d.tensor);
  network[traffic::Axis::kPipeline] = PathOf(machines, d.pipeline, stage);
  network[traffic::Axis::kExpert] = PathOf(machines, d.expert, d.expert_tensor);
  network[traffic::Axis::kExpertTensor] = PathOf(machines, d.expert_tensor, 1);
  network.expert_gradients = PathOf(machines, d.expert_gradient_group, d.expert * d.expert_tensor);
  const bool hybrid = layout.parallelism.sharding == traffic::Sharding::kHybrid;
  const double shard = hybrid ? d.shard_group : d.gradient_group;
  network[traffic::Axis::kSharding] = PathOf(machines, shard, d.tensor);
  network[traffic::Axis::kData] = hybrid
                                      ? PathOf(machines, d.gradient_group / shard, d.tensor * shard)
                                      : PathOf(machines, d.gradient_group, d.tensor);
  return network;
}

}  // namespace weft::outlook
