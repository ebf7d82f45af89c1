#include "operator/base/check.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(CheckDeathTest, EndsTheProcessAndNamesThePlaceAndTheInvariant) {
  const int free = 3;
  EXPECT_DEATH(WEFT_CHECK(free >= 4), "check_test.cc:[0-9]+: broken invariant: free >= 4");
}

TEST(CheckTest, EvaluatesItsConditionOnce) {
  int evaluated = 0;
  WEFT_CHECK(++evaluated > 0);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, OfHotLoopsIsThereOnlyInBuildsThatAskForIt) {
  int evaluated = 0;
  WEFT_DCHECK(++evaluated > 0);
#ifdef WEFT_DCHECKS
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(WEFT_DCHECK(evaluated == 2), "broken invariant: evaluated == 2");
#else
  EXPECT_EQ(evaluated, 0);
  WEFT_DCHECK(evaluated == 2);
#endif
}

// Both are one statement.
TEST(CheckTest, StandsInABranchWithoutBraces) {
  bool other = false;
  if (other)
    WEFT_CHECK(false);
  else
    other = true;
  if (!other)
    WEFT_DCHECK(false);
  else
    other = false;
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace weft
