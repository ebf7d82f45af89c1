#include "operator/objective/box.h"

#include "gtest/gtest.h"
#include "tests/support/nodes_of.h"
#include "tests/support/torus_shape.h"

namespace weft::objective {
namespace {

using fabric::NodeIndex;

// Of node K of a torus of 6 x 4, the first dimension fastest.
Box Around(const std::vector<NodeIndex>& nodes, bool wraps) {
  const testing::Cluster cluster =
      testing::MakeCluster(testing::TorusOf({6, 4}, std::vector<bool>(24, true), wraps));
  return BoxAround(*cluster.fabric->torus(), nodes);
}

TEST(BoxTest, TheSmallestBoxMayRunOverTheEnd) {
  const std::vector<NodeIndex> corners = testing::NodesOf({0, 5, 18});  // (0, 0), (5, 0), (0, 3)
  EXPECT_EQ(Around(corners, true), (Box{{5, 3, 0}, {2, 2, 1}}));
  EXPECT_EQ(Around(corners, false), (Box{{0, 0, 0}, {6, 4, 1}}));
  EXPECT_EQ(Around(testing::NodesOf({8}), true), (Box{{2, 1, 0}, {1, 1, 1}}));
  EXPECT_EQ(Around(testing::NodesOf({8, 9, 14, 15}), false), (Box{{2, 1, 0}, {2, 2, 1}}));
}

TEST(BoxTest, WrapsAsTheTorusOfTheNodesDoes) {
  testing::FabricShape shape = testing::TorusOf({6}, std::vector<bool>(6, true));
  shape.levels = {{"pod", 40'000}};
  shape.torus_level = "pod";
  shape.torus_shapes = {{{"b"}, {9}, {}}};
  for (testing::TestNode& node : shape.nodes) node.domains = {"a"};
  for (const int at : {0, 7, 8}) {
    shape.nodes.push_back({.name = "b" + std::to_string(at), .domains = {"b"}, .torus = {at}});
  }
  const testing::Cluster cluster = testing::MakeCluster(shape);
  const std::vector<NodeIndex> nodes = {cluster.node("b0"), cluster.node("b7"), cluster.node("b8")};
  EXPECT_EQ(BoxAround(*cluster.fabric->torus(), nodes), (Box{{7, 0, 0}, {3, 1, 1}}));
}

}  // namespace
}  // namespace weft::objective
