#include <benchmark/benchmark.h>

#include <array>

#include "operator/objective/scores.h"
#include "tests/support/fabric_builder.h"

// How long the scores of one placement take: 2,048 ranks of tensor 8, context 2, data 16 and
// pipeline 8 in workers of 2, on nodes that hold two workers each, 16 nodes a leaf.
namespace weft::objective {
namespace {

constexpr std::array<std::uint32_t, 4> kDegrees = {8, 2, 16, 8};
constexpr std::uint32_t kRanks = 8 * 2 * 16 * 8;
constexpr std::uint32_t kPerWorker = 2;

// The groups of the axis whose neighbours are `stride` ranks apart.
traffic::GroupFamily Family(traffic::Axis axis, traffic::Pattern pattern, std::uint32_t size,
                            std::uint32_t stride) {
  traffic::GroupFamily family;
  family.axis = axis;
  family.pattern = pattern;
  family.group_size = size;
  family.amount = family.end_amount = 1'000'000;
  for (std::uint32_t first = 0; first < kRanks; ++first) {
    if (first / stride % size != 0) continue;
    for (std::uint32_t k = 0; k < size; ++k) family.members.emplace_back(first + k * stride);
  }
  return family;
}

void BM_Score(benchmark::State& state) {
  using traffic::Axis, traffic::Pattern;
  testing::FabricShape shape;
  constexpr std::uint32_t kNodes = 1000, kNodesPerLeaf = 16, kLeavesPerSpine = 8;
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    testing::TestNode node;
    node.name = testing::Numbered("n", n, kNodes);
    node.domains = {"s" + std::to_string(n / kNodesPerLeaf / kLeavesPerSpine),
                    "l" + std::to_string(n / kNodesPerLeaf)};
    shape.nodes.push_back(std::move(node));
  }
  const testing::Cluster cluster = testing::MakeCluster(shape);
  const bool experts = state.range(0) != 0;
  traffic::Traffic traffic;
  traffic.ranks = kRanks;
  traffic.per_worker = kPerWorker;
  traffic.workers = kRanks / kPerWorker;
  traffic.modelled = true;
  traffic.families = {Family(Axis::kTensor, Pattern::kRing, kDegrees[0], 1),
                      Family(Axis::kContext, Pattern::kRing, kDegrees[1], 8),
                      Family(experts ? Axis::kExpert : Axis::kData,
                             experts ? Pattern::kAllToAll : Pattern::kRing, kDegrees[2], 16),
                      Family(Axis::kPipeline, Pattern::kNeighbours, kDegrees[3], 256)};
  traffic::SeatGroups(traffic);
  ByWorker<fabric::NodeIndex> nodes;
  for (std::uint32_t w = 0; w < traffic.workers; ++w) nodes.emplace_back(w / 2 * 3 % kNodes);
  const PairCost pair_cost(*cluster.fabric, false);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Score(pair_cost, traffic, nodes));
  }
}
BENCHMARK(BM_Score)->ArgName("experts")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft::objective
