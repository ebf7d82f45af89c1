#include "operator/base/union_find.h"

#include <gtest/gtest.h>

#include <utility>

namespace weft {
namespace {

struct JoinCase {
  const char* name;
  std::uint32_t size;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joins;
  std::vector<std::uint32_t> roots;
};
const JoinCase kCases[] = {
    {"NothingHasNoSets", 0, {}, {}},
    {"AtFirstEveryoneIsAlone", 3, {}, {0, 1, 2}},
    {"JoinedOnesShareTheLeastOfThem", 4, {{3, 1}}, {0, 1, 2, 1}},
    {"OneJoinedWithItselfStaysAlone", 2, {{1, 1}}, {0, 1}},
    {"SetsJoinThroughAnyMember", 6, {{4, 5}, {2, 3}, {3, 5}}, {0, 1, 2, 2, 2, 2}},
    {"ALaterLesserMemberBecomesTheRoot", 4, {{2, 3}, {1, 3}, {0, 2}}, {0, 0, 0, 0}},
    {"JoiningTwiceChangesNothing", 3, {{0, 2}, {2, 0}}, {0, 1, 0}},
    {"AChainFromTheEndIsOneSet", 5, {{3, 4}, {2, 3}, {1, 2}, {0, 1}}, {0, 0, 0, 0, 0}},
};

class UnionFindTest : public ::testing::TestWithParam<JoinCase> {};

TEST_P(UnionFindTest, TheRootIsTheLeastMember) {
  UnionFind sets(GetParam().size);
  for (const auto& [x, y] : GetParam().joins) sets.Join(x, y);
  std::vector<std::uint32_t> roots;
  for (std::uint32_t x = 0; x < GetParam().size; ++x) roots.push_back(sets.Find(x));
  EXPECT_EQ(roots, GetParam().roots);
}

INSTANTIATE_TEST_SUITE_P(All, UnionFindTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace weft
