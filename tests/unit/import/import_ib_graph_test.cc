#include "operator/import/import_ib_graph.h"

#include <gtest/gtest.h>

namespace weft::import {
namespace {

using Sets = std::vector<std::vector<int>>;

TEST(GroupByMajority, ASetJoinsTheGroupWithMostOfItsMembers) {
  const Groups groups = GroupByMajority({{0, 1}, {0, 1}, {0, 2}, {3, 4}, {}});
  EXPECT_EQ(groups.of_set, (std::vector<int>{0, 0, 0, 1, -1}));
  EXPECT_EQ(groups.members, (Sets{{0, 1}, {3, 4}}));
}

// Found by a fuzzer: a group without members has no name.
TEST(GroupByMajority, ASetWhoseMembersAreInThreeGroupsOpensNone) {
  const Groups groups =
      GroupByMajority({{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}, {1, 3, 5}});
  EXPECT_EQ(groups.of_set.back(), 0);
  EXPECT_EQ(groups.members, (Sets{{0, 1}, {2, 3}, {4, 5}}));
}

}  // namespace
}  // namespace weft::import
