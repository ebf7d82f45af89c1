#include "operator/objective/node_set.h"
#include "tests/support/nodes_of.h"

#include <gtest/gtest.h>

namespace weft::objective {
namespace {

using Indices = std::vector<fabric::NodeIndex>;

Indices Visited(const NodeSet& set) {
  Indices nodes;
  set.ForEach([&](fabric::NodeIndex n) { nodes.push_back(n); });
  return nodes;
}

TEST(NodeSet, VisitsItsNodesOnceInTreeOrder) {
  EXPECT_EQ(Visited(NodeSet(65, testing::NodesOf({64, 5, 63, 0, 5}))),
            testing::NodesOf({0, 5, 63, 64}));
  EXPECT_EQ(Visited(NodeSet(200)), Indices{});
}

TEST(NodeSet, SetsOfTheSameNodesAreEqual) {
  NodeSet set(130, testing::NodesOf({1, 129}));
  EXPECT_EQ(set, NodeSet(130, testing::NodesOf({129, 1})));
  set.Insert(fabric::NodeIndex{64});
  EXPECT_NE(set, NodeSet(130, testing::NodesOf({129, 1})));
}

}  // namespace
}  // namespace weft::objective
