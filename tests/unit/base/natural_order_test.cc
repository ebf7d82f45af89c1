#include "operator/base/natural_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

TEST(NaturalLess, IsATotalOrderWithNumbersAsPeopleCount) {
  const std::vector<std::string> ordered = {"",      "01",   "1",     "2",     "10",  "a",
                                            "a-1",   "a-1b", "a-01c", "a-2",   "a-9", "a-10",
                                            "a-10-", "a1",   "a1-2",  "a1-12", "b"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(NaturalLess(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  }
}

TEST(NaturalLess, TakesNumbersOfAnyLength) {
  EXPECT_TRUE(NaturalLess("n-99999999999999999999999", "n-100000000000000000000000"));
  EXPECT_TRUE(NaturalLess("a-01", "a-1"));
  EXPECT_FALSE(NaturalLess("a-1", "a-01"));
}

}  // namespace
}  // namespace weft
