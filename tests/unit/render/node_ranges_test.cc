#include "operator/render/node_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::render {
namespace {

struct RangesCase {
  const char* name;
  std::vector<std::string> names;
  const char* text;
};
const RangesCase kCases[] = {
    {"NoNamesAreEmpty", {}, ""},
    {"OneNameStandsAlone", {"su1-n07"}, "su1-n07"},
    {"ARunIsFolded", {"n01", "n02", "n03"}, "n[01-03]"},
    {"TwoNeighboursAreListed", {"n01", "n02"}, "n[01,02]"},
    {"GapsAreListed", {"n01", "n02", "n03", "n05", "n08", "n09"}, "n[01-03,05,08,09]"},
    {"ANameCountsOnce", {"n1", "n1", "n2"}, "n[1,2]"},
    {"WidthGrowsWithoutLeadingZeros", {"n8", "n9", "n10", "n11"}, "n[8-11]"},
    {"LeadingZerosMatter", {"n8", "n09", "n10"}, "n[8,09,10]"},
    {"TheSameNumberInTwoWidthsIsTwoNames", {"n7", "n07"}, "n[07,7]"},
    {"TheNumberThatFoldsBestIsTaken", {"r1-n3", "r2-n3", "r3-n3"}, "r[1-3]-n3"},
    {"OfEqualsTheLastNumberIsTaken", {"r1-n1", "r1-n2", "r2-n1", "r2-n2"}, "r1-n[1,2], r2-n[1,2]"},
    {"AnAddressFoldsInItsLastNumberThatVaries",
     {"ip-10-0-1-5.ec2", "ip-10-0-1-6.ec2", "ip-10-0-1-7.ec2"},
     "ip-10-0-1-[5-7].ec2"},
    {"NamesWithoutNumbersStandAlone", {"login", "n2", "n1"}, "login, n[1,2]"},
    {"GroupsStandAsPeopleCount", {"r10-n1", "r10-n2", "r9-n1", "r9-n2"}, "r9-n[1,2], r10-n[1,2]"},
    {"ANumberOfTwentyDigitsIsText",
     {"x12345678901234567890", "x12345678901234567891"},
     "x12345678901234567890, x12345678901234567891"},
};
class NodeRangesTest : public ::testing::TestWithParam<RangesCase> {};
TEST_P(NodeRangesTest, FoldsNamesInWhateverOrder) {
  std::vector<std::string> names = GetParam().names;
  EXPECT_EQ(NodeRanges(names), GetParam().text);
  std::reverse(names.begin(), names.end());
  EXPECT_EQ(NodeRanges(names), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(All, NodeRangesTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

std::vector<std::string> OddNames(int count) {
  std::vector<std::string> names;
  for (int n = 0; n < count; ++n) names.push_back("n" + std::to_string(2 * n + 1));
  return names;
}

struct ShortCase {
  const char* name;
  int count;
  std::size_t most;
  const char* text;
};
const ShortCase kShort[] = {
    {"ShowsAllNamesIfTheyFit", 4, 10, "n[1,3,5,7]"},
    {"CountsTheNamesThatDoNotFit", 4, 9, "n[1,3,5] and 1 more"},
    {"OneNameIsAlwaysThere", 4, 0, "n1 and 3 more"},
    {"OneNameAloneIsNeverCut", 1, 0, "n1"},
    {"ThousandsMoreAreGrouped", 2'000, 12, "n[1,3,5,7,9] and 1,995 more"},
};
class ShortRangesTest : public ::testing::TestWithParam<ShortCase> {};
TEST_P(ShortRangesTest, CutsLongLists) {
  EXPECT_EQ(ShortRanges(OddNames(GetParam().count), GetParam().most), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(All, ShortRangesTest, ::testing::ValuesIn(kShort),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace weft::render
