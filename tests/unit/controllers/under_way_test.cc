#include "operator/controllers/under_way.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace weft::controllers {
namespace {

class SetClock final : public run::Clock {
 public:
  run::Instant Now() const override { return now; }
  run::WallMicros Wall() const override { return 0; }

  run::Instant now{};
};

TEST(UnderWayTest, TellsTheWorkThatLastsLongest) {
  using std::chrono::seconds;
  SetClock clock;
  UnderWay all(clock);
  EXPECT_FALSE(all.Longest());
  std::optional<UnderWay::Mark> first(std::in_place, all, "planner");
  clock.now += seconds(5);
  const UnderWay::Mark second(all, "trainingjob");
  clock.now += seconds(2);
  ASSERT_TRUE(all.Longest());
  EXPECT_EQ(all.Longest()->what, "planner");
  EXPECT_EQ(all.Longest()->time, seconds(7));
  first.reset();
  EXPECT_EQ(all.Longest()->what, "trainingjob");
  EXPECT_EQ(all.Longest()->time, seconds(2));
}

}  // namespace
}  // namespace weft::controllers
