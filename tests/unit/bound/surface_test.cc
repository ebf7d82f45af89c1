#include "operator/bound/surface.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace weft::bound {
namespace {

using objective::UnitIndex;
using Edge = objective::UnitEdge;

constexpr double kRounding = 1e-6;

// A grid of axes as edges, fastest axis first.
std::vector<Edge> EdgesOf(std::span<const GridAxis> axes) {
  std::uint32_t vertices = 1;
  for (const GridAxis& axis : axes) vertices *= axis.size;
  std::vector<Edge> edges;
  std::uint32_t stride = 1;
  for (const GridAxis& axis : axes) {
    for (std::uint32_t a = 0; a < vertices; ++a) {
      const std::uint32_t digit = a / stride % axis.size;
      for (std::uint32_t other = digit + 1; other < axis.size; ++other) {
        std::int64_t bytes = axis.each;
        if (other == digit + 1) bytes += axis.along;
        if (axis.size > 2 && other - digit == axis.size - 1) bytes += axis.around;
        if (bytes <= 0) continue;
        edges.push_back({UnitIndex(a), UnitIndex(a + (other - digit) * stride), bytes});
      }
    }
    stride *= axis.size;
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& x, const Edge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  return edges;
}

std::vector<double> LeastCuts(std::span<const Edge> edges, std::uint32_t vertices) {
  std::vector<double> least(vertices + 1, std::numeric_limits<double>::infinity());
  for (std::uint32_t set = 0; set < 1U << vertices; ++set) {
    double cut = 0;
    for (const Edge& edge : edges) {
      const bool apart = (set >> edge.a.Raw() & 1) != (set >> edge.b.Raw() & 1);
      if (apart) cut += static_cast<double>(edge.bytes);
    }
    double& at = least[static_cast<std::size_t>(std::popcount(set))];
    at = std::min(at, cut);
  }
  return least;
}

struct Case {
  const char* name;
  std::vector<GridAxis> axes;
};

const std::vector<Case> kGrids = {
    {"an expert group in each of three replicas", {{4, 7, 0, 0, {}}, {3, 20, 0, 0, {}}}},
    {"two rings", {{4, 0, 5, 5, {}}, {4, 0, 3, 3, {}}}},
    {"an expert group in a ring of replicas", {{3, 5, 0, 0, {}}, {5, 0, 8, 8, {}}}},
    {"pairs in a ring", {{2, 0, 9, 0, {}}, {7, 0, 4, 4, {}}}},
    {"a ring where all talk to all as well", {{4, 2, 6, 6, {}}, {4, 1, 2, 2, {}}}},
};

TEST(LeastSurface, OfTwoAxesIsExact) {
  for (const Case& grid : kGrids) {
    const std::uint32_t vertices = grid.axes[0].size * grid.axes[1].size;
    const LeastSurface surface(grid.axes, vertices);
    EXPECT_EQ(surface.surplus(), 0) << grid.name;
    const std::vector<double> least = LeastCuts(EdgesOf(grid.axes), vertices);
    for (std::uint32_t s = 0; s <= vertices; ++s) {
      EXPECT_NEAR(surface.leaving()[s], least[s], kRounding) << grid.name << ", " << s;
    }
  }
}

GridAxis RandomAxis(SplitMix64& random, std::uint32_t size) {
  GridAxis axis;
  axis.size = size;
  if (random.Below(2) == 0) axis.each = static_cast<std::int64_t>(random.Below(50));
  if (size == 2) axis.each = 0;  // two vertices are neighbours
  axis.along = static_cast<std::int64_t>(random.Below(100));
  if (size > 2 && random.Below(2) == 0) axis.around = static_cast<std::int64_t>(random.Below(100));
  return axis;
}

// Twice the bytes between the parts of a partition, `part` by vertex.
double Twice(std::span<const Edge> edges, std::span<const std::uint32_t> part) {
  double sum = 0;
  for (const Edge& edge : edges) {
    if (part[edge.a.Raw()] != part[edge.b.Raw()]) sum += 2 * static_cast<double>(edge.bytes);
  }
  return sum;
}

// Boxes of the grid, or runs of vertices, with a few vertices moved: near the least cut.
std::vector<std::uint32_t> RandomParts(SplitMix64& random, std::uint32_t vertices) {
  const auto length = static_cast<std::uint32_t>(1 + random.Below(vertices));
  std::vector<std::uint32_t> part(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) part[v] = v / length;
  for (std::uint64_t moves = random.Below(4); moves > 0; --moves) {
    part[random.Below(vertices)] = part[random.Below(vertices)];
  }
  return part;
}

TEST(LeastSurface, OfAPartitionIsNeverAboveWhatCrosses) {
  SplitMix64 random(7);
  const std::vector<std::vector<std::uint32_t>> shapes = {
      {12}, {4, 3}, {2, 2, 3}, {8, 2, 2}, {3, 4, 5}, {2, 6, 4}, {2, 2, 2, 2}, {16, 4}};
  for (int i = 0; i < 400; ++i) {
    const auto& shape = shapes[random.Below(shapes.size())];
    std::vector<GridAxis> axes;
    std::uint32_t vertices = 1;
    for (const std::uint32_t size : shape) {
      axes.push_back(RandomAxis(random, size));
      vertices *= size;
    }
    const std::vector<Edge> edges = EdgesOf(axes);
    const LeastSurface surface(random.Below(2) == 0 ? axes : MeasureAxes(edges, shape), vertices);
    for (int tries = 0; tries < 20; ++tries) {
      const std::vector<std::uint32_t> part = RandomParts(random, vertices);
      std::vector<std::uint32_t> size(vertices + 1, 0);
      for (const std::uint32_t p : part) ++size[p];
      double sum = 0;
      for (const std::uint32_t s : size) sum += surface.leaving()[s];
      ASSERT_LE(sum, Twice(edges, part) + surface.surplus() + kRounding) << i;
    }
  }
}

// Sets too large for slices: a quarter of a square of rings must touch half of its lines.
TEST(LeastSurface, OfLargeSetsCountsTheLinesThatTheyTouch) {
  const std::vector<GridAxis> axes = {{64, 0, 1, 1, {}}, {64, 0, 1, 1, {}}};
  const LeastSurface surface(axes, 64 * 64);
  EXPECT_GT(surface.leaving()[64 * 64 / 4], 60);
  EXPECT_LE(surface.leaving()[64 * 64 / 4], 128);
  EXPECT_GT(surface.leaving()[64 * 64 / 2], 40);
  EXPECT_LE(surface.leaving()[64 * 64 / 2], 128);
  EXPECT_EQ(surface.leaving()[64 * 64], 0);
}

TEST(LeastSurface, OfVerticesThatSendNothingIsNothing) {
  const LeastSurface surface({}, 3);
  EXPECT_EQ(surface.leaving(), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(surface.surplus(), 0);
}

// Five rings of six: every axis has p lines with p^5 = s^4 that are touched, of which
// (s - p) / 5 are whole; a line that is not costs 2. A group of sizes up to 6 % apart has one
// bound.
TEST(LeastSurface, OfLargeSetsTouchesAsManyLinesOnEachOfEqualAxes) {
  const std::vector<GridAxis> axes(5, GridAxis{6, 0, 1, 1, {}});
  constexpr std::uint64_t kMost = 2000;
  const LeastSurface surface(axes, kMost);
  const auto bound = [](double least, double most) {
    return 5 * 2 * 6.0 / 5 * (std::pow(least, 0.8) - most / 6);
  };
  for (std::uint64_t s = 1500; s <= kMost; s += 100) {
    const auto size = static_cast<double>(s);
    EXPECT_LE(surface.leaving()[s], bound(size, size)) << s;
    EXPECT_GE(surface.leaving()[s], bound(size / 1.06, size * 1.06)) << s;
  }
}

// A set of a ring's vertices leaves it at two ends, whatever its vertices double.
TEST(LeastSurface, OfLargeSetsGivesAwayAnAxisWithoutBytes) {
  const std::vector<GridAxis> axes = {{2000, 0, 1, 1, {}}, {2, 0, 0, 0, {}}};
  EXPECT_NEAR(LeastSurface(axes, 1900).leaving()[1900], 2, kRounding);
}

TEST(SliceStack, RemembersThePartsOfACheapestSet) {
  const GridAxis pipeline = {4, 0, 1, 0, {}};
  const std::vector<double> stage = {0, 10, 15, 10, 0};  // whole stages leave nothing
  const SliceStack stack(pipeline, stage, 8, true);
  std::vector<double> parts(5, 0);
  stack.AddParts(6, 1, parts);  // a whole stage of 4, and 2 of another
  stack.AddParts(8, 2, parts);
  EXPECT_EQ(parts, (std::vector<double>{0, 0, 1, 0, 5}));
}

}  // namespace
}  // namespace weft::bound
