#include "operator/base/quantity.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace weft {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string Show(const Result<std::int64_t>& result) {
  return result ? std::to_string(*result) : std::string("error: ").append(result.error().message);
}

TEST(QuantityTest, ReadsWholeUnits) {
  struct Case {
    const char* name;
    const char* text;
    std::int64_t want;
  };
  const std::vector<Case> cases = {
      {"a plain number", "8", 8},
      {"zero", "0", 0},
      {"leading zeros", "007", 7},
      {"a leading plus", "+5", 5},
      {"a negative number", "-3", -3},
      {"no digit before the point", ".5Ki", 512},
      {"no digit after the point", "5.", 5},
      {"thousands", "12k", 12'000},
      {"millions", "3M", 3'000'000},
      {"bytes per second", "50G", 50'000'000'000},
      {"a binary suffix with a fraction", "1.5Gi", 1'610'612'736},
      {"the smallest binary suffix", "1Ki", 1'024},
      {"mebibytes", "2Mi", 2'097'152},
      {"tebibytes", "1Ti", std::int64_t{1} << 40},
      {"pebibytes", "1Pi", std::int64_t{1} << 50},
      {"exbibytes", "7Ei", std::int64_t{7} << 60},
      {"exabytes, not an exponent", "5E", 5'000'000'000'000'000'000},
      {"an exponent", "1e3", 1'000},
      {"a capital exponent", "1E3", 1'000},
      {"a signed exponent", "12.5e+1", 125},
      {"a negative exponent", "5000e-3", 5},
      {"a fraction, rounded up", "1.2", 2},
      {"thousandths, rounded up", "100m", 1},
      {"a negative fraction, away from zero", "-1.2", -2},
      {"millionths, rounded up", "1u", 1},
      {"billionths that are whole", "3000000000n", 3},
      {"a tiny fraction beyond the kept digits", "1.000000000000000000000001", 2},
      {"zero beyond the kept digits", "1.000000000000000000000000", 1},
      {"a vanishing value", "1e-99", 1},
      {"zero with a huge exponent", "0e999999999999", 0},
      {"the largest", "9223372036854775807", kMost},
      {"the largest, as a fraction", "9.223372036854775807E", kMost},
      {"the least", "-9223372036854775807", -kMost},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Show(ParseQuantity(c.text)), std::to_string(c.want)) << c.name;
}

TEST(QuantityTest, ReadsThousandths) {
  struct Case {
    const char* name;
    const char* text;
    std::int64_t want;
  };
  const std::vector<Case> cases = {
      {"cores", "8", 8'000},
      {"millicores", "250m", 250},
      {"a fraction of a core", "0.1", 100},
      {"less than a millicore, rounded up", "100u", 1},
      {"more than a millicore, rounded up", "1500100u", 1'501},
      {"a binary suffix", "1.5Ki", 1'536'000},
      {"a binary fraction that is not whole, rounded up", "0.0001Ki", 103},
      {"an exponent", "2e3", 2'000'000},
      {"the largest", "9223372036854775.807", kMost},
      {"the largest, as a fraction", "0.009223372036854775807E", kMost},
      {"an integer that is cut, and a fraction", "1999999.9u", 2'000},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Show(ParseMilliQuantity(c.text)), std::to_string(c.want)) << c.name;
  }
}

TEST(QuantityTest, RefusesWhatIsNoQuantity) {
  const std::vector<std::string> texts = {"",    " ",   "8 ",    " 8",  "abc",  "1.2.3", "1e",
                                          "e3",  "E",   "Gi",    "+",   "-",    ".",     "--1",
                                          "1KI", "1ki", "1K",    "1g",  "1Gib", "0x10",  "1e3k",
                                          "1e+", "1,5", "1e1.5", "NaN", "inf",  "1m2",   "\xff"};
  for (const std::string& text : texts) {
    const std::string want =
        "error: \"" + text + std::string("\" is not a quantity such as 8, 250m, 1.5Gi or 50G");
    EXPECT_EQ(Show(ParseQuantity(text)), want);
    EXPECT_EQ(Show(ParseMilliQuantity(text)), want);
  }
  EXPECT_EQ(Show(ParseQuantity(std::string(100, 'x'))),
            std::string("error: \"").append(std::string(40, 'x')) +
                "...\" is not a quantity such as 8, 250m, 1.5Gi or 50G");
}

TEST(QuantityTest, RefusesWhatPassesTheRange) {
  for (const char* text :
       {"50E", "8Ei", "9223372036854775808", "-9223372036854775808", "1e19", "1e999999999999",
        "99999999999999999999999", "9.3E", "16Ei", "0.00000000000000000000000000000001e60"}) {
    EXPECT_EQ(Show(ParseQuantity(text)),
              std::string("error: \"").append(text) + "\" is past 2^63 - 1");
  }
  for (const char* text : {"9223372036854775.808", "5E", "9007199254740992Ki", "-8Ei"}) {
    EXPECT_EQ(Show(ParseMilliQuantity(text)),
              std::string("error: \"").append(text) + "\" is past 2^63 - 1 thousandths");
  }
}

TEST(QuantityTest, WritesBytesWithFourDigits) {
  struct Case {
    const char* name;
    Int128 bytes;
    const char* want;
  };
  const Int128 most = (~Int128{0}) ^ (Int128{1} << 127);
  const std::vector<Case> cases = {
      {"zero", 0, "0"},
      {"one digit", 7, "7"},
      {"below a thousand", 999, "999"},
      {"a thousand", 1'000, "1k"},
      {"four digits", 1'048, "1.048k"},
      {"ten thousand", 10'000, "10k"},
      {"a round million and a bit", 1'048'000, "1.048M"},
      {"three digits before the point", 206'158'430'208, "206.2G"},
      {"no digit after the point", 33'000'000'000, "33G"},
      {"a step of a 70B model", 131'941'395'333'120, "131.9T"},
      {"half rounds up", 12'345'000, "12.35M"},
      {"less than half rounds down", 12'344'999, "12.34M"},
      {"rounding up to the next power", 9'999'999, "10M"},
      {"rounding up to the next suffix", 999'950, "1M"},
      {"just below that", 999'949, "999.9k"},
      {"the largest 64-bit value", kMost, "9.223E"},
      {"beyond the last suffix", Int128{kMost} * 1'000'000, "9223000E"},
      {"the largest 128-bit value", most, "170100000000000000000E"},
      {"a negative value", -1'048'000, "-1.048M"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatBytes(c.bytes), c.want) << c.name;
}

TEST(QuantityTest, FormattedQuantitiesParseToTheSameValue) {
  struct Case {
    std::int64_t value;
    const char* want;
  };
  const std::vector<Case> cases = {
      {0, "0"},
      {7, "7"},
      {1'000, "1k"},
      {12'500, "12500"},
      {12'500'000'000, "12500M"},
      {50'000'000'000, "50G"},
      {9'000'000'000'000'000'000, "9E"},
      {-2'000, "-2k"},
      {kMost, "9223372036854775807"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FormatQuantity(c.value), c.want);
    EXPECT_EQ(Show(ParseQuantity(c.want)), std::to_string(c.value));
  }
}

TEST(QuantityTest, BytesAsWrittenReadBackToFourDigits) {
  for (std::int64_t value : {1'048'576LL, 999'999LL, 123'456'789'012LL, 131'941'395'333'120LL}) {
    const std::string text = FormatBytes(value);
    const Result<std::int64_t> back = ParseQuantity(text);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(FormatBytes(*back), text);
  }
}

TEST(QuantityTest, WritesWideIntegers) {
  EXPECT_EQ(FormatInt128(0), "0");
  EXPECT_EQ(FormatInt128(-1), "-1");
  EXPECT_EQ(FormatInt128(Int128{kMost} * 10), "92233720368547758070");
  EXPECT_EQ(FormatInt128((~Int128{0}) ^ (Int128{1} << 127)),
            "170141183460469231731687303715884105727");
  EXPECT_EQ(FormatInt128(Int128{1} << 127), "-170141183460469231731687303715884105728");
}

}  // namespace
}  // namespace weft
