#include "operator/kube/timer.h"

#include <gtest/gtest.h>

#include <thread>

namespace weft::kube {
namespace {

TEST(FormatMicroTime, WritesSixDigits) {
  struct Case {
    const char* name;
    WallMicros time;
    const char* want;
  };
  const Case cases[] = {
      {"the epoch", 0, "1970-01-01T00:00:00.000000Z"},
      {"small fractions keep their zeros", 1'787'392'800'000'042, "2026-08-22T10:00:00.000042Z"},
      {"the last microsecond of a second", 999'999, "1970-01-01T00:00:00.999999Z"},
      {"before the epoch", -1, "1969-12-31T23:59:59.999999Z"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatMicroTime(c.time), c.want) << c.name;
}

TEST(SystemTimer, WaitsUntilItIsEnded) {
  SystemTimer timer;
  EXPECT_TRUE(timer.Wait(Millis(0)));
  std::thread ender([&] { timer.End(); });
  EXPECT_FALSE(timer.Wait(std::chrono::hours(1)));
  ender.join();
  EXPECT_FALSE(timer.Wait(std::chrono::hours(1)));
}

}  // namespace
}  // namespace weft::kube
