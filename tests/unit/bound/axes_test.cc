#include "operator/bound/axes.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace weft::bound {
namespace {

using objective::UnitIndex;
using Edge = objective::UnitEdge;

void Ring(std::uint32_t first, std::uint32_t stride, std::uint32_t size, std::int64_t bytes,
          std::vector<Edge>& edges) {
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    edges.push_back({UnitIndex(first + i * stride), UnitIndex(first + (i + 1) * stride), bytes});
  }
  edges.push_back({UnitIndex(first), UnitIndex(first + (size - 1) * stride), bytes});
}

// As the graph gives them: ascending, each pair once.
std::vector<Edge> Merged(std::vector<Edge> edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& x, const Edge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  std::vector<Edge> merged;
  for (const Edge& edge : edges) {
    if (!merged.empty() && merged.back().a == edge.a && merged.back().b == edge.b) {
      merged.back().bytes += edge.bytes;
    } else {
      merged.push_back(edge);
    }
  }
  return merged;
}

TEST(MeasureAxes, FindsAnExpertGroupOverSeveralDigits) {
  std::vector<Edge> edges;
  for (UnitIndex a{0}; a < UnitIndex{8}; ++a) {
    for (UnitIndex b = a + 1; b < UnitIndex{8}; ++b) edges.push_back({a, b, 5});
  }
  const std::vector<std::uint32_t> grid = {2, 2, 2};
  const std::vector<GridAxis> axes = MeasureAxes(edges, grid);
  ASSERT_EQ(axes.size(), 1U);
  EXPECT_EQ(axes[0].size, 8U);
  EXPECT_EQ(axes[0].each, 5);
  EXPECT_EQ(axes[0].along, 0);
  EXPECT_TRUE(axes[0].inside.empty());
}

// Rings of context inside the ring of all ranks of a stage.
TEST(MeasureAxes, FindsSmallRingsInsideALargeOne) {
  std::vector<Edge> edges;
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    Ring(stage * 12, 1, 12, 7, edges);
    for (std::uint32_t line = 0; line < 3; ++line) Ring(stage * 12 + line * 4, 1, 4, 100, edges);
  }
  const std::vector<std::uint32_t> grid = {4, 3, 2};
  const std::vector<GridAxis> axes = MeasureAxes(Merged(edges), grid);
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes[0].size, 12U);
  EXPECT_EQ(axes[0].along, 7);
  EXPECT_EQ(axes[0].around, 7);
  ASSERT_EQ(axes[0].inside.size(), 2U);
  EXPECT_EQ(axes[0].inside[0].size, 4U);
  EXPECT_EQ(axes[0].inside[0].along, 100);
  EXPECT_EQ(axes[0].inside[0].around, 100);
  EXPECT_EQ(axes[0].inside[1].along, 0);
  EXPECT_EQ(axes[1].along, 0);  // nothing between the stages
}

TEST(GridAxis, CountsAChainAsCutAtBothEndsOfEveryPiece) {
  const GridAxis chain = {4, 0, 10, 0, {}};
  EXPECT_EQ(chain.Leaving(0), 0);
  EXPECT_EQ(chain.Leaving(1), 20);
  EXPECT_EQ(chain.Leaving(4), 20);
  EXPECT_EQ(chain.Surplus(), 20);
  // Two pieces cross once, which both of them count.
  EXPECT_EQ(chain.Leaving(1) + chain.Leaving(3) - chain.Surplus(), 2 * 10);
}

TEST(GridAxis, CountsARingAndAllPairsExactly) {
  const GridAxis ring = {5, 2, 10, 10, {}};
  EXPECT_EQ(ring.Leaving(2), 20 + 2 * 2 * 3);
  EXPECT_EQ(ring.Leaving(5), 0);
  EXPECT_EQ(ring.Surplus(), 0);
}

}  // namespace
}  // namespace weft::bound
