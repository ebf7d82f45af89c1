#include "operator/base/utf8.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Utf8, KnowsWellFormedSequences) {
  struct Case {
    const char* name;
    std::string text;
    std::size_t want;
  };
  const Case cases[] = {
      {"ASCII", "a", 1},
      {"two bytes", "\xC3\xA9", 2},
      {"three bytes", "\xE2\x82\xAC", 3},
      {"four bytes", "\xF0\x9F\x98\x80", 4},
      {"the last code point", "\xF4\x8F\xBF\xBF", 4},
      {"nothing", "", 0},
      {"NUL", std::string(1, '\0'), 0},
      {"a continuation alone", "\x80", 0},
      {"cut off", "\xE2\x82", 0},
      {"overlong, two bytes", "\xC0\xAF", 0},
      {"overlong, three bytes", "\xE0\x80\xAF", 0},
      {"overlong, four bytes", "\xF0\x80\x80\xAF", 0},
      {"a surrogate", "\xED\xA0\x80", 0},
      {"past U+10FFFF", "\xF4\x90\x80\x80", 0},
      {"a byte that starts nothing", "\xFF", 0},
  };
  for (const Case& c : cases) EXPECT_EQ(SequenceBytes(c.text), c.want) << c.name;
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(FirstBadByte("plain ASCII of many bytes"), std::nullopt);
  EXPECT_EQ(FirstBadByte("plain ASCII \xC3\xA9 and more"), std::nullopt);
  EXPECT_EQ(FirstBadByte("plain ASCII \xFF and more"), 12U);
  EXPECT_EQ(FirstBadByte(std::string("eight by\0tes", 12)), 8U);
}

TEST(Utf8, CountsAndCutsCharacters) {
  EXPECT_EQ(CodePoints("a\xC3\xA9\xE2\x82\xAC"), 3U);
  EXPECT_EQ(StartOf("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(StartOf("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(StartOf("abc", 9), "abc");
  EXPECT_EQ(Excerpt("a\tb\x7F", 9), "a?b?");
  EXPECT_EQ(Excerpt("ab\xC3\xA9", 3), "ab...");
}

}  // namespace
}  // namespace weft
