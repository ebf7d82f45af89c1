#include "operator/search/box_layouts.h"

#include <gtest/gtest.h>
#include <array>

#include <set>

#include "operator/base/quantity.h"
#include "tests/support/torus_shape.h"

namespace weft::search {
namespace {

constexpr std::uint64_t kSteps = 100'000;

// "a-b:bytes ..." and the sum.
std::string Show(const DigitTraffic& digit) {
  std::string text = std::to_string(digit.size);
  for (const DigitTraffic::Pair& pair : digit.pairs) {
    text += " " + std::to_string(pair.a) + "-" + std::to_string(pair.b) + ":" +
            FormatInt128(pair.bytes);
  }
  return text + " = " + FormatInt128(digit.bytes);
}

DigitTraffic RingOf(std::uint32_t size, std::int64_t bytes) {
  DigitTraffic digit{size, {}, 0};
  for (std::uint32_t v = 0; v < size; ++v) {
    digit.pairs.push_back({v, (v + 1) % size, bytes});
    digit.bytes += bytes;
  }
  return digit;
}

// "XxYxZ:hops" of each layout on a torus of these sizes, cheapest first.
std::string Layouts(const std::vector<DigitTraffic>& digits,
                    const std::vector<std::uint32_t>& sizes, bool wraps,
                    std::uint64_t steps = kSteps) {
  std::size_t places = 1;
  for (const std::uint32_t size : sizes) places *= size;
  const testing::Cluster cluster =
      testing::MakeCluster(testing::TorusOf(sizes, std::vector<bool>(places, true), wraps));
  std::string text;
  for (const BoxLayout& layout : LayIntoBoxes(digits, cluster.fabric->torus()->shape(0), steps)) {
    text += (text.empty() ? "" : " ") + std::to_string(layout.size[0]) + "x" +
            std::to_string(layout.size[1]) + "x" + std::to_string(layout.size[2]) + ":" +
            FormatInt128(layout.hops);
    const std::set<fabric::TorusPlace> taken(layout.places.begin(), layout.places.end());
    EXPECT_EQ(taken.size(), layout.places.size()) << "one place for each vertex";
    for (const fabric::TorusPlace& place : taken) {
      for (std::size_t d = 0; d < place.size(); ++d) EXPECT_LT(place[d], layout.size[d]);
    }
  }
  return text;
}

TEST(TrafficByDigit, AddsUpTheLinesOfEachDigit) {
  // A grid of 2 x 3: vertex 3 is (1, 1). The last edge differs in both digits.
  std::vector<objective::UnitEdge> edges;
  for (const auto& [a, b, bytes] : std::vector<std::array<std::uint32_t, 3>>{
           {0, 1, 10}, {0, 2, 5}, {1, 3, 4}, {2, 4, 6}, {4, 5, 1}, {0, 3, 7}}) {
    edges.push_back({objective::UnitIndex(a), objective::UnitIndex(b), bytes});
  }
  const std::vector<std::uint32_t> grid = {2, 3};
  const std::vector<DigitTraffic> digits = TrafficByDigit(edges, grid);
  ASSERT_EQ(digits.size(), 2U);
  EXPECT_EQ(Show(digits[0]), "2 0-1:11 = 11");
  EXPECT_EQ(Show(digits[1]), "3 0-1:9 1-2:6 = 15");
}

TEST(DigitTraffic, AcrossIsBetweenTheTwoSidesOnly) {
  const DigitTraffic digit{4, {{0, 1, 1}, {1, 2, 2}, {2, 3, 4}, {0, 3, 8}}, 15};
  EXPECT_EQ(FormatInt128(digit.Across(0, 2, 4)), "10");
  EXPECT_EQ(FormatInt128(digit.Across(0, 1, 2)), "1");
  EXPECT_EQ(FormatInt128(digit.Across(1, 2, 4)), "2");
  EXPECT_EQ(FormatInt128(digit.Across(1, 3, 4)), "4");
}

TEST(LayIntoBoxes, ARingOfFourIsASquareOrARowThatWraps) {
  EXPECT_EQ(Layouts({RingOf(4, 10)}, {4, 4}, true), "1x4x1:40 2x2x1:40 4x1x1:40");
  // In a row that does not wrap the ring's way back takes as many hops as the way forth.
  EXPECT_EQ(Layouts({RingOf(4, 10)}, {4, 4}, false), "2x2x1:40 1x4x1:60 4x1x1:60");
}

// Pairs with many bytes are neighbours. The ring of four pairs is 2 x 2 pairs, along x twice two
// hops, or four pairs in a row, folded: two hops, one, two and one.
TEST(LayIntoBoxes, TheHeaviestDigitHasTheShortestHops) {
  const std::vector<DigitTraffic> digits = {{2, {{0, 1, 100}}, 100}, RingOf(4, 10)};
  EXPECT_EQ(Layouts(digits, {4, 2}, false), "4x2x1:160");
  EXPECT_EQ(Layouts({digits[1], digits[0]}, {4, 2}, false), "4x2x1:160");
}

TEST(LayIntoBoxes, WithoutStepsHasTheFirstLayoutAndWithoutRoomNone) {
  EXPECT_EQ(Layouts({RingOf(4, 10)}, {4, 4}, true, 0), "2x2x1:40");
  EXPECT_EQ(Layouts({RingOf(5, 10)}, {4, 4}, true), "");
}

}  // namespace
}  // namespace weft::search
