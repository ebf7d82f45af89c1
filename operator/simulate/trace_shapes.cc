#include "operator/simulate/trace_shapes.h"

#include <algorithm>
#include <map>

namespace weft::simulate {
namespace {

struct Recipe {
  std::uint32_t most_gpus;
  traffic::Transformer model;
  std::int64_t tensor, pipeline, micro_batches;
};

traffic::Transformer Llama(std::int64_t parameters, std::int64_t layers, std::int64_t hidden,
                           std::int64_t heads) {
  traffic::Transformer model;
  model.parameters = parameters;
  model.layers = layers;
  model.hidden_size = hidden;
  model.attention_heads = heads;
  model.key_value_heads = 8;
  model.vocabulary_size = 128'256;
  model.sequence_length = 8'192;
  model.micro_batch_size = 1;
  return model;
}

const Recipe& RecipeFor(std::uint32_t gpus) {
  static const Recipe kRecipes[] = {
      {64, Llama(8'030'000'000, 32, 4'096, 32), 2, 1, 4},
      {512, Llama(70'600'000'000, 80, 8'192, 64), 8, 4, 16},
      {~std::uint32_t{0}, Llama(405'000'000'000, 126, 16'384, 128), 8, 16, 32},
  };
  const Recipe* recipe = kRecipes;
  while (gpus > recipe->most_gpus) ++recipe;
  return *recipe;
}

// The largest power of two up to `most` that divides the number.
std::int64_t PowerOfTwo(std::int64_t most, std::int64_t number) {
  std::int64_t power = 1;
  while (power * 2 <= most && number % (power * 2) == 0) power *= 2;
  return power;
}

}  // namespace

NodeKind CommonNode(const fabric::Fabric& fabric) {
  std::map<std::pair<fabric::ResourceIndex, std::int64_t>, std::size_t> kinds;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    for (fabric::ResourceIndex r{0}; r < fabric.resources().EndIndex(); ++r) {
      const std::int64_t amount = fabric.allocatable(n, r);
      if (fabric.IsAccelerator(r) && amount > 0) ++kinds[{r, amount}];
    }
  }
  const auto most = std::max_element(
      kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == kinds.end()) return {};
  return {fabric.resources()[most->first.first], static_cast<std::uint32_t>(most->first.second)};
}

api::TrainingJob TraceShape(const NodeKind& node, std::uint32_t gpus) {
  api::TrainingJob job;
  job.place = "trace";
  job.replicas = std::max<std::uint32_t>(1, (gpus + node.accelerators - 1) / node.accelerators);
  job.accelerator.resource_name = node.resource;
  job.accelerator.per_worker = gpus < node.accelerators ? gpus : node.accelerators;
  job.pod.requests = {{node.resource, job.accelerator.per_worker}};
  if (job.replicas == 1) return job;
  const Recipe& recipe = RecipeFor(job.replicas * node.accelerators);
  job.parallelism.tensor = PowerOfTwo(recipe.tensor, node.accelerators);
  job.parallelism.pipeline = PowerOfTwo(recipe.pipeline, job.replicas);
  job.parallelism.sharding = traffic::Sharding::kOptimizerState;
  const std::int64_t data = std::int64_t{job.replicas} * node.accelerators /
                            (job.parallelism.tensor * job.parallelism.pipeline);
  traffic::Transformer model = recipe.model;
  model.global_batch_size = data * recipe.micro_batches;
  model.recomputation =
      recipe.pipeline > 4 ? traffic::Recomputation::kFull : traffic::Recomputation::kSelective;
  job.model = traffic::Model{model, {}};
  return job;
}

}  // namespace weft::simulate
