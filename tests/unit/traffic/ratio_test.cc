#include "operator/traffic/ratio.h"

#include "gtest/gtest.h"

namespace weft::traffic {
namespace {

Ratio Fraction(std::int64_t numerator, std::int64_t denominator) {
  Ratio ratio = numerator;
  return ratio /= denominator;
}

TEST(Ratio, RoundsHalvesUp) {
  struct Case {
    const char* name;
    Ratio value;
    std::int64_t rounded;
  };
  const Case cases[] = {
      {"a whole number stays", 7, 7},
      {"below a half goes down", Fraction(4, 3), 1},
      {"a half goes up", Fraction(5, 2), 3},
      {"above a half goes up", Fraction(5, 3), 2},
      {"just below a half of 2^60 goes down", Fraction((std::int64_t{1} << 59) - 1, 1LL << 60), 0},
      {"negative numbers count as nothing", -3, 0},
      {"the largest value fits", kSaturated, kSaturated},
  };
  for (const Case& c : cases) EXPECT_EQ(c.value.Rounded(), c.rounded) << c.name;
}

TEST(Ratio, IsExactWhereProductsPass64Bits) {
  Ratio ratio = 1'000'000'007;
  ratio *= 1'000'000'009;
  ratio *= 998'244'353;
  ratio /= 1'000'000'009;
  ratio /= 1'000'000'007;
  EXPECT_EQ(ratio.Rounded(), 998'244'353);
}

TEST(Ratio, SubtractsNotBelowZero) {
  Ratio third = Fraction(1, 3);
  third -= Fraction(1, 4);
  third *= 12;
  EXPECT_EQ(third.Rounded(), 1);
  Ratio small = 5;
  small -= 6;
  EXPECT_TRUE(small.zero());
}

TEST(Ratio, IsInLowestTermsAfterASubtraction) {
  constexpr std::int64_t kPrime = 1'000'000'007;
  Ratio left = 1;
  for (int i = 0; i < 6; ++i) left -= Fraction(1, kPrime);  // kPrime^6 exceeds 128 bits
  left *= kPrime;
  EXPECT_EQ(left.Rounded(), kPrime - 6);
}

TEST(Ratio, AddsWholeNumbers) {
  Ratio half = Fraction(1, 2);
  half += 3;
  half *= 2;
  EXPECT_EQ(half.Rounded(), 7);
}

TEST(Ratio, RemembersWhatDoesNotFit) {
  Ratio past = kSaturated;
  past *= 2;
  EXPECT_EQ(past.Rounded(), std::nullopt);
  past /= 2;  // still exact: 128 bits were enough
  EXPECT_EQ(past.Rounded(), kSaturated);
  past *= kSaturated;
  past *= kSaturated;
  past /= kSaturated;
  past /= kSaturated;
  EXPECT_EQ(past.Rounded(), std::nullopt);
  EXPECT_EQ(Fraction(1, 0).Rounded(), std::nullopt);
}

}  // namespace
}  // namespace weft::traffic
