#include "operator/search/adjacency.h"

#include <gtest/gtest.h>

#include <map>

namespace weft::search {
namespace {

using traffic::Axis;

using BytesByPeer = std::map<std::uint32_t, std::int64_t>;

traffic::WorkerGraph GraphOf(std::vector<traffic::MeasuredAxis> bytes, std::uint32_t workers) {
  traffic::Parallelism parallelism;
  parallelism.expert = 16;
  const auto traffic = traffic::ComputeTraffic(traffic::Model{std::nullopt, std::move(bytes)},
                                               parallelism, workers, 1);
  return traffic::WorkerGraph(*traffic);
}

BytesByPeer BytesOf(const Adjacency& adjacency, WorkerIndex worker) {
  BytesByPeer bytes;
  for (const traffic::Neighbour& peer : adjacency.of(worker))
    bytes[peer.worker.Raw()] += peer.bytes;
  return bytes;
}

TEST(Adjacency, WithoutCliquesListsTheNeighbours) {
  const traffic::WorkerGraph graph = GraphOf({{Axis::kData, 1000}}, 32);
  EXPECT_EQ(BytesOf(Adjacency(graph), WorkerIndex{0}), (BytesByPeer{{1, 1000}, {31, 1000}}));
}

TEST(Adjacency, UnfoldsCliquesIntoPairsBesideTheNeighbours) {
  const traffic::WorkerGraph graph = GraphOf({{Axis::kExpert, 15 * 100}, {Axis::kData, 1000}}, 32);
  ASSERT_EQ(graph.cliques().size(), 2U);
  const Adjacency adjacency(graph);
  for (const std::uint32_t worker : {0U, 15U, 16U, 31U}) {
    BytesByPeer want;
    const std::uint32_t first = worker / 16 * 16;
    for (std::uint32_t peer = first; peer < first + 16; ++peer) {
      if (peer != worker) want[peer] += 200;
    }
    want[(worker + 1) % 32] += 1000;
    want[(worker + 31) % 32] += 1000;
    EXPECT_EQ(BytesOf(adjacency, WorkerIndex(worker)), want) << worker;
  }
}

}  // namespace
}  // namespace weft::search
