#include "operator/search/pieces.h"

#include <numeric>

#include "gtest/gtest.h"
#include "operator/objective/levels.h"
#include "operator/search/exchange.h"
#include "operator/search/tiler.h"
#include "operator/search/tilings.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"
#include "tests/support/raw_of.h"

namespace weft::search {
namespace {

using weft::testing::Cluster;
using weft::testing::Leaves;
using weft::testing::MakeCluster;

using Numbers = std::vector<std::uint32_t>;
using CellOf = ByWorker<CellIndex>;
using UnitOf = ByWorker<objective::UnitIndex>;

// A job whose workers, one a node, talk along the rings of a grid, on a cluster.
struct Job {
  Job(Cluster on, std::vector<std::uint32_t> grid, std::int64_t tensor_bytes)
      : cluster(std::move(on)) {
    request.job = "test/job";
    request.workers = std::accumulate(grid.begin(), grid.end(), 1U, std::multiplies<>());
    request.pod.requests = {{"nvidia.com/gpu", 8}};
    traffic::Parallelism shape;
    shape.tensor = grid.front() * 8;
    request.grid = std::move(grid);
    const traffic::Model model{
        std::nullopt, {{traffic::Axis::kTensor, tensor_bytes}, {traffic::Axis::kData, 1'000}}};
    const auto traffic = traffic::ComputeTraffic(model, shape, request.workers, 8);
    graph.emplace(*traffic);
    instance.emplace(cluster.claims, request, *graph, objective::Options{});
  }

  Cluster cluster;
  objective::Request request;
  std::optional<traffic::WorkerGraph> graph;
  std::optional<objective::Instance> instance;
};

TEST(Pieces, AreTheWorkersOfOneUnitInOneCell) {
  const Numbers cell_of = {2, 2, 0, 0, 2}, unit_of = {0, 0, 0, 1, 1};
  const Pieces pieces(CellOf(cell_of.begin(), cell_of.end()),
                      UnitOf(unit_of.begin(), unit_of.end()));
  EXPECT_EQ(pieces.size.Items(), (Numbers{1, 2, 1, 1}));
  EXPECT_EQ(testing::RawOf(pieces.cell), (Numbers{0, 2, 0, 2}));
  EXPECT_EQ(testing::RawOf(pieces.of), (Numbers{1, 1, 0, 2, 3}));
  EXPECT_EQ(testing::RawOf(pieces.CellOfWorkers()), cell_of);
}

TEST(Pulls, OfAnyBytesFitTheCellsWeights) {
  constexpr std::int64_t kMany = std::int64_t{1} << 55;
  const Job job(MakeCluster(Leaves({{8, 8}, {8, 8}})), {2, 2}, kMany);
  UnitOf alone(4);
  std::iota(alone.begin(), alone.end(), objective::UnitIndex{0});
  const auto nodes = testing::WorkersOn({0, 1, 2, 3});
  const Cells cells(*job.instance, nodes, fabric::kOutside, 16);
  const Pieces pieces(cells.of_worker(), alone);
  const Pulls pulls(*job.instance, pieces, cells);
  Int128 all = 0;
  for (PieceIndex p{0}; p < pulls.EndIndex(); ++p) {
    for (const Pulls::Peer& peer : pulls.of(p)) {
      EXPECT_GE(peer.bytes, 0);
      all += Int128{peer.bytes} * cells.most_weight();
    }
  }
  EXPECT_GT(all, Int128{1} << 58);  // scaled down no more than needed
  EXPECT_LT(all, Int128{1} << 62);
}

// Two pairs that stand across two leaves: no single worker can move, and whole units change places.
TEST(Exchange, SwapsPiecesOfAnySize) {
  const Job job(MakeCluster(Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}})), {2, 4}, 1'000'000);
  const auto nodes = testing::WorkersOn({0, 4, 1, 5, 2, 6, 3, 7});  // every pair is divided
  const Cells cells(*job.instance, nodes, fabric::kOutside, 16);
  UnitOf alone(8);
  std::iota(alone.begin(), alone.end(), objective::UnitIndex{0});
  Pieces pieces(cells.of_worker(), alone);
  Exchange(Pulls(*job.instance, pieces, cells), cells).Run(pieces, 100'000);
  for (PieceIndex p{0}; p < PieceIndex{8}; p = p + 2) {
    EXPECT_EQ(pieces.cell[p], pieces.cell[p + 1]) << p.Raw();
  }

  // The ring of pairs 0 1 2 3 stands as 0 2 | 1 3: as pieces, two of them change places.
  const auto apart = testing::WorkersOn({0, 1, 4, 5, 2, 3, 6, 7});
  const Cells others(*job.instance, apart, fabric::kOutside, 16);
  const Numbers pair_of = {0, 0, 1, 1, 2, 2, 3, 3};
  Pieces pairs(others.of_worker(), UnitOf(pair_of.begin(), pair_of.end()));
  ASSERT_EQ(pairs.size.Items(), (Numbers{2, 2, 2, 2}));
  Exchange(Pulls(*job.instance, pairs, others), others).Run(pairs, 100'000);
  const auto leaf = [&](std::uint32_t pair) { return pairs.cell[PieceIndex(pair)]; };
  EXPECT_TRUE((leaf(0) == leaf(1) && leaf(2) == leaf(3)) ||
              (leaf(1) == leaf(2) && leaf(3) == leaf(0)));
  EXPECT_NE(leaf(0), leaf(2));
}

TEST(Tilings, PlainOnesComeFirstAndThenThoseThatPromiseToCostLeast) {
  const Job job(MakeCluster(Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}})), {4, 2}, 1'000'000);
  const objective::Tree tree =
      objective::Tree::OfLevels(*job.instance, fabric::kOutside, fabric::DomainIndex{0});
  const std::vector<Tiling> tilings = TilingsFor(*job.instance, tree);
  ASSERT_GT(tilings.size(), 1U);
  const auto dearer = [](const Tiling& a, const Tiling& b) { return a.forecast < b.forecast; };
  const auto others = std::is_sorted_until(tilings.begin(), tilings.end(), dearer);
  EXPECT_TRUE(std::is_sorted(others, tilings.end(), dearer));
  const std::vector<TilingStep> single = {{1, tree.node_tier()}};
  EXPECT_NE(std::find_if(tilings.begin(), others,
                         [&](const Tiling& tiling) { return tiling.steps == single; }),
            others);
  // The first keeps the heavy axis in one leaf, and its forecast is what it costs there.
  const auto nodes = Tiler(*job.instance, tree).Lay(tilings.front());
  ASSERT_TRUE(nodes);
  EXPECT_EQ(objective::Evaluate(*job.instance, *nodes).cost, tilings.front().forecast);
}

}  // namespace
}  // namespace weft::search
