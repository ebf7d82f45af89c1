#include "operator/objective/box.h"

#include "gtest/gtest.h"
#include "tests/support/torus_shape.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;

// Of node K of a torus of 6 x 4, the first dimension fastest.
Box Around(const std::vector<NodeIndex>& nodes, bool wraps) {
  const testing::Cluster cluster =
      testing::MakeCluster(testing::TorusOf({6, 4}, std::vector<bool>(24, true), wraps));
  return BoxAround(*cluster.fabric->torus(), nodes);
}

TEST(BoxTest, TheSmallestBoxMayRunOverTheEnd) {
  const std::vector<NodeIndex> corners = {0, 5, 18};  // (0, 0), (5, 0), (0, 3)
  EXPECT_EQ(Around(corners, true), (Box{{5, 3, 0}, {2, 2, 1}}));
  EXPECT_EQ(Around(corners, false), (Box{{0, 0, 0}, {6, 4, 1}}));
  EXPECT_EQ(Around({8}, true), (Box{{2, 1, 0}, {1, 1, 1}}));
  EXPECT_EQ(Around({8, 9, 14, 15}, false), (Box{{2, 1, 0}, {2, 2, 1}}));
}

}  // namespace
}  // namespace weft::placement
