#include "operator/cli/period.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

TEST(PeriodTest, IsWholeNumbersWithUnits) {
  EXPECT_EQ(ParsePeriod("7d"), 604'800);
  EXPECT_EQ(ParsePeriod("1w"), 604'800);
  EXPECT_EQ(ParsePeriod("1d12h"), 129'600);
  EXPECT_EQ(ParsePeriod("10m"), 600);
  for (const char* wrong : {"", "7", "d", "-7d", "1.5d", "7 d", "9m", "3651d", "7s", "7d5",
                            "99999999999999999999d", "3650d3650d"}) {
    EXPECT_EQ(ParsePeriod(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace weft::cli
