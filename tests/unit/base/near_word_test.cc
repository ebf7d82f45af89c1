#include "operator/base/near_word.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(EditDistance("plan", "plan"), 0U);
  EXPECT_EQ(EditDistance("pln", "plan"), 1U);
  EXPECT_EQ(EditDistance("paln", "plan"), 1U);  // neighbours swapped
  EXPECT_EQ(EditDistance("map", "audit"), 5U);
  EXPECT_EQ(EditDistance("", "lint"), 4U);
}

TEST(NearWord, NamesWhatWasProbablyMeant) {
  const std::vector<std::string_view> known = {"replicas", "template", "plan", "explain", "top"};
  struct Case {
    std::string typed;
    std::string_view want;
  };
  const Case cases[] = {
      {"replica", "replicas"},
      {"Replicas", "replicas"},
      {"tempalte", "template"},
      {"pln", "plan"},
      {"expl", "explain"},
      {"simulate", ""},
      {"x", ""},
      {"", ""},
      {std::string(1000, 'a'), ""},
  };
  for (const Case& c : cases) EXPECT_EQ(NearWord(c.typed, known), c.want) << c.typed;
}

}  // namespace
}  // namespace weft
