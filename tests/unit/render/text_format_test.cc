#include "operator/render/text_format.h"

#include <gtest/gtest.h>

#include "operator/render/table.h"

namespace weft::render {
namespace {

struct WrapCase {
  const char* name;
  std::string lead, text;
  std::size_t indent;
  int columns;
  std::string lines;
};
const WrapCase kWraps[] = {
    {"AShortTextIsOneLine", "- ", "a b", 2, 10, "- a b\n"},
    {"NoTextIsTheLead", "note:", "", 2, 10, "note:\n"},
    {"LinesEndAfterSpaces", "", "aaa bbb ccc", 2, 7, "aaa bbb\n  ccc\n"},
    {"TheLimitIsTheLastColumn", "", "aaa bbb", 0, 6, "aaa\nbbb\n"},
    {"ALongWordStaysWhole", "  ", "aaaaaaaaaa b", 2, 5, "  aaaaaaaaaa\n  b\n"},
    {"NamesInBracketsBreakAfterCommas", "", "n[001,002,003]", 2, 9, "n[001,\n  002,\n  003]\n"},
    {"ANumberStaysWhole", "", "of 1,024 nodes", 0, 6, "of\n1,024\nnodes\n"},
    {"AUnitStaysWithItsNumber", "", "less than 472 s (105 %).", 0, 13,
     "less than\n472 s\n(105 %).\n"},
    {"AWordThatIsNoUnitMayLeaveItsNumber", "", "all 12 nodes", 0, 7, "all 12\nnodes\n"},
    {"WidthCountsCharactersNotBytes", "", "\u00e9\u00e9\u00e9 \u00e9", 0, 5,
     "\u00e9\u00e9\u00e9 \u00e9\n"},
    {"NoColumnsAreAWordALine", "", "a b", 0, 0, "a\nb\n"},
};
class WrapTest : public ::testing::TestWithParam<WrapCase> {};
TEST_P(WrapTest, BreaksLines) {
  const WrapCase& row = GetParam();
  EXPECT_EQ(Wrap(row.lead, row.text, row.indent, row.columns), row.lines);
}
INSTANTIATE_TEST_SUITE_P(All, WrapTest, ::testing::ValuesIn(kWraps),
                         [](const auto& row) { return row.param.name; });

struct TextCase {
  const char* name;
  std::string text, expected;
};
const TextCase kTexts[] = {
    {"NoBytesHaveAUnit", BytesText(0), "0 B"},
    {"FewBytesAreCounted", BytesText(999), "999 B"},
    {"BytesHaveFourDigits", BytesText(131'941'395'333'120), "131.9 TB"},
    {"RoundThousandsHaveNoDecimals", BytesText(10'000), "10 kB"},
    {"NoTimeIsMilliseconds", MillisecondsText(0), "0 ms"},
    {"LittleTimeIsMicroseconds", MillisecondsText(0.0421), "42.1 us"},
    {"PartsOfAMillisecondAreShown", MillisecondsText(0.4), "0.4 ms"},
    {"SecondsHaveThreeDigits", MillisecondsText(2076), "2.08 s"},
    {"ManySecondsAreMinutes", MillisecondsText(5'400'000), "90 min"},
    {"APercentHasASpace", PercentText(137), "137 %"},
    {"ThousandsOfPercentAreGrouped", PercentText(12'345), "12,345 %"},
    {"NoPercentIsADash", PercentText(std::nullopt), "-"},
    {"ARateHasThreeDigits", RateText(3'125'000'000), "3.12 GB/s"},
    {"ARoundRateHasNoDecimals", RateText(50'000'000'000), "50 GB/s"},
    {"ALargeRateIsInTerabytes", RateText(1'800'000'000'000), "1.8 TB/s"},
    {"ASmallRateIsInBytes", RateText(7), "7 B/s"},
    {"OneOfSomethingIsSingular", Counted(1, "node"), "1 node"},
    {"NoneOfSomethingIsPlural", Counted(0, "node"), "0 nodes"},
    {"ThousandsOfSomethingAreGrouped", Counted(1'024, "node"), "1,024 nodes"},
    {"NegativeNumbersAreGrouped", Grouped(-1'234'567), "-1,234,567"},
    {"AHundredHasNoComma", Grouped(-100), "-100"},
    {"ASmallRatioHasTwoDecimals", Ratio(1.374, 1), "1.37x"},
    {"AMiddlingRatioHasOneDecimal", Ratio(46.71, 1), "46.7x"},
    {"ALargeRatioHasNone", Ratio(504.4, 1), "504x"},
    {"NothingIsAsMuchAsNothing", Ratio(0, 0), "1.00x"},
    {"SomethingAgainstNothingHasNoRatio", Ratio(5, 0), "-"},
    {"ControlCharactersAreReplaced", Printable("a\x1b[2J\n\x7f"), "a?[2J??"},
};
class TextTest : public ::testing::TestWithParam<TextCase> {};
TEST_P(TextTest, ReadsWell) { EXPECT_EQ(GetParam().text, GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(All, TextTest, ::testing::ValuesIn(kTexts),
                         [](const auto& row) { return row.param.name; });

TEST(TableTest, LinesUpColumnsByCharacters) {
  Table table({{"NAME", Align::kLeft}, {"N", Align::kRight}, {"", Align::kLeft}});
  table.Add({{"\u00e9t\u00e9"}, {"1"}, {"x"}});
  table.Add({{"longer"}, {"1,000"}});
  table.Add({{"all"}, {"2"}, {"y"}, {"dropped"}});
  EXPECT_EQ(table.Show(false),
            "NAME        N\n"
            "\u00e9t\u00e9         1  x\n"
            "longer  1,000\n"
            "all         2  y\n");
}

TEST(TableTest, ColourDoesNotCountAsWidth) {
  Table table({{"A"}, {"B"}});
  table.Add({{"red", Colour::kRed}, {"x"}});
  EXPECT_EQ(table.Show(true), "\x1b[1mA\x1b[0m    \x1b[1mB\x1b[0m\n\x1b[31mred\x1b[0m  x\n");
}

}  // namespace
}  // namespace weft::render
