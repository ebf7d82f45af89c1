#include "operator/search/box_paths.h"

#include <set>

#include "gtest/gtest.h"

namespace weft::search {
namespace {

using objective::TorusSize;

int Apart(const fabric::TorusPlace& a, const fabric::TorusPlace& b) {
  int apart = 0;
  for (std::size_t d = 0; d < a.size(); ++d) apart += std::abs(int{a[d]} - int{b[d]});
  return apart;
}

TEST(BoxPathsTest, EveryPathVisitsEveryPlaceOnce) {
  for (std::uint32_t x = 1; x <= 5; ++x) {
    for (std::uint32_t y = 1; y <= 4; ++y) {
      for (std::uint32_t z = 1; z <= 3; ++z) {
        const auto paths = PathsThrough({x, y, z}, {1, 1, 1});
        ASSERT_FALSE(paths.empty());
        for (const BoxPath& path : paths) {
          const std::set<fabric::TorusPlace> places(path.begin(), path.end());
          EXPECT_EQ(path.size(), std::size_t{x} * y * z);
          EXPECT_EQ(places.size(), path.size());
          for (const auto& place : places) {
            EXPECT_TRUE(place[0] < x && place[1] < y && place[2] < z);
          }
        }
      }
    }
  }
}

TEST(BoxPathsTest, ASnakeHasSingleHopsAndARingCloses) {
  for (const TorusSize& size :
       {TorusSize{2, 2, 1}, TorusSize{4, 3, 1}, TorusSize{3, 1, 6}, TorusSize{2, 2, 2},
        TorusSize{3, 4, 5}, TorusSize{3, 3, 2}, TorusSize{1, 8, 8}}) {
    const auto paths = PathsThrough(size, {1, 1, 1});
    bool closes = false;
    for (const BoxPath& path : paths) {
      for (std::size_t i = 1; i < path.size(); ++i) EXPECT_EQ(Apart(path[i - 1], path[i]), 1);
      closes = closes || Apart(path.back(), path.front()) == 1;
    }
    EXPECT_TRUE(closes);
  }
}

TEST(BoxPathsTest, AlongOneDimensionARingIsFolded) {
  const auto paths = PathsThrough({5, 1, 1}, {1, 1, 1});
  ASSERT_EQ(paths.size(), 2U);
  const BoxPath folded = {{0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {3, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(paths[1], folded);
}

TEST(BoxPathsTest, MostHopsAreAlongTheCheapestDimension) {
  const BoxPath snake = PathsThrough({2, 4, 1}, {1, 3, 1}).front();
  EXPECT_EQ(snake[1], (fabric::TorusPlace{1, 0, 0}));
  const BoxPath other = PathsThrough({2, 4, 1}, {3, 1, 1}).front();
  EXPECT_EQ(other[1], (fabric::TorusPlace{0, 1, 0}));
}

}  // namespace
}  // namespace weft::search
