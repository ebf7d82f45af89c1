#include "operator/fabric/torus.h"

#include <algorithm>
#include <cstdlib>

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

// A torus full of nodes, node K at Flat place K.
Torus Full(const std::vector<TorusDimension>& dimensions) {
  std::uint32_t size[3] = {1, 1, 1};
  for (std::size_t d = 0; d < dimensions.size(); ++d) size[d] = dimensions[d].size;
  ByNode<TorusPlace> places;
  for (std::uint16_t z = 0; z < size[2]; ++z) {
    for (std::uint16_t y = 0; y < size[1]; ++y) {
      for (std::uint16_t x = 0; x < size[0]; ++x) places.push_back({x, y, z});
    }
  }
  return {{TorusShape(dimensions)}, {0}, ByNode<std::uint32_t>(places.size(), 0), places};
}

const std::vector<std::vector<TorusDimension>> kShapes = {
    {{"x", 1, true}},
    {{"x", 2, true}},
    {{"x", 7, false}},
    {{"x", 8, true}, {"y", 3, true}},
    {{"x", 4, true}, {"y", 5, false}, {"z", 6, true}},
    {{"x", 2, true}, {"y", 1, false}, {"z", 2, false}}};

TEST(TorusTest, HopsAreTheLinksOfAShortestWay) {
  for (const auto& dimensions : kShapes) {
    const Torus torus = Full(dimensions);
    const std::uint32_t nodes = torus.shape(0).volume();
    for (const NodeIndex from : Range<NodeIndex>(nodes)) {
      ByNode<std::uint32_t> hops(nodes, ~0U);  // breadth first over single links
      std::vector<NodeIndex> queue = {from};
      hops[from] = 0;
      for (std::size_t head = 0; head < queue.size(); ++head) {
        for (std::size_t d = 0; d < dimensions.size(); ++d) {
          for (const int step : {-1, 1}) {
            TorusPlace to = torus.place(queue[head]);
            const int size = static_cast<int>(torus.shape(0).sizes()[d]);
            int at = to[d] + step;
            if (torus.shape(0).wraps(d)) at = (at + size) % size;
            if (at < 0 || at >= size) continue;
            to[d] = static_cast<std::uint16_t>(at);
            const NodeIndex next = torus.At(0, to);
            if (hops[next] != ~0U) continue;
            hops[next] = hops[queue[head]] + 1;
            queue.push_back(next);
          }
        }
      }
      for (const NodeIndex to : Range<NodeIndex>(nodes)) EXPECT_EQ(torus.Hops(from, to), hops[to]);
    }
  }
}

TEST(TorusTest, PlacesWithinHoldsTheMostThatAnyPlaceHasAround) {
  for (const auto& dimensions : kShapes) {
    const Torus torus = Full(dimensions);
    const std::uint32_t nodes = torus.shape(0).volume();
    std::vector<std::uint32_t> most;
    for (const NodeIndex from : Range<NodeIndex>(nodes)) {
      for (std::uint32_t hops = 0; hops <= torus.shape(0).volume(); ++hops) {
        std::uint32_t within = 0;
        for (const NodeIndex to : Range<NodeIndex>(nodes)) within += torus.Hops(from, to) <= hops;
        if (most.size() == hops) most.push_back(0);
        most[hops] = std::max(most[hops], within);
        if (within == nodes) break;
      }
    }
    while (most.size() > 1 && most[most.size() - 2] == most.back()) most.pop_back();
    EXPECT_EQ(std::vector(torus.PlacesWithin().begin(), torus.PlacesWithin().end()), most);
  }
}

// A ring of 8 has two places for each hop, a cube of 2 x 2 x 2 has three at one and at two hops.
TEST(TorusTest, OfSeveralShapesPlacesWithinHoldsTheMostOfAny) {
  const std::vector<TorusDimension> ring = {{"x", 8, true}, {"y", 1, true}, {"z", 1, true}};
  const std::vector<TorusDimension> cube = {{"x", 2, true}, {"y", 2, true}, {"z", 2, true}};
  const Torus torus({TorusShape(ring), TorusShape(cube)}, {1, 0, 1}, {0, 1, 1, 2},
                    {{1, 1, 1}, {0, 0, 0}, {5, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(std::vector(torus.PlacesWithin().begin(), torus.PlacesWithin().end()),
            (std::vector<std::uint32_t>{1, 4, 7, 8, 8}));
  EXPECT_EQ(torus.count(), 3U);
  EXPECT_EQ(torus.Hops(NodeIndex{1}, NodeIndex{2}), 3U);
  EXPECT_EQ(torus.At(0, {1, 1, 1}), NodeIndex{0});
  EXPECT_EQ(torus.At(1, {5, 0, 0}), NodeIndex{2});
  EXPECT_EQ(torus.At(2, {1, 1, 1}), NodeIndex{3});
  EXPECT_EQ(torus.At(2, {0, 0, 0}), Torus::kNoNode);
}

}  // namespace
}  // namespace weft::fabric
