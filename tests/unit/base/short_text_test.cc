#include "operator/base/short_text.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(ShortTextTest, TextThatFitsStays) {
  EXPECT_EQ(Shorten("", 0), "");
  EXPECT_EQ(Shorten("quota", 5), "quota");
}

TEST(ShortTextTest, LongerTextEndsInDots) {
  EXPECT_EQ(Shorten("exceeded quota", 11), "exceeded...");
  EXPECT_EQ(Shorten("quota", 3), "...");
  EXPECT_EQ(Shorten("quota", 2), "..");
}

TEST(ShortTextTest, ACharacterIsNeverCutInTwo) {
  const std::string text = "a\u20ac\u20ac";  // 1 + 3 + 3 bytes
  EXPECT_EQ(Shorten(text + "b", 7), "a\u20ac...");
  EXPECT_EQ(Shorten(text + "b", 6), "a...");
  EXPECT_EQ(Shorten(text + "b", 5), "a...");
}

}  // namespace
}  // namespace weft
