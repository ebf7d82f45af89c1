#include "operator/kube/backoff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::kube {
namespace {

using std::chrono::seconds;

constexpr Instant kStart{};

TEST(Backoff, DoublesFromHalfASecondToHalfAMinute) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff({}, seed);
    for (const int whole : {1'000, 2'000, 4'000, 8'000, 16'000, 30'000, 30'000, 30'000}) {
      const Millis wait = backoff.Failed(kStart);
      EXPECT_GE(wait, Millis(whole / 2)) << whole;
      EXPECT_LE(wait, Millis(whole)) << whole;
    }
  }
}

TEST(Backoff, DiffersBetweenSeeds) {
  EXPECT_NE(Backoff({}, 1).Failed(kStart), Backoff({}, 2).Failed(kStart));
}

TEST(Backoff, NeverOverflows) {
  Backoff backoff({}, 1);
  for (int i = 0; i < 1'000; ++i) EXPECT_LE(backoff.Failed(kStart), Millis(30'000));
}

struct ResetCase {
  const char* name;
  std::vector<int> well_at;  // seconds at which something worked
  int fails_at;
  int failures;  // in a row, with that one
};

TEST(Backoff, StartsAnewAfterAHealthyMinuteAlone) {
  const ResetCase cases[] = {
      {"nothing worked in between", {}, 600, 4},
      {"it worked for a moment", {1}, 2, 4},
      {"it worked for less than a minute", {1, 40}, 60, 4},
      {"it worked for a minute", {1, 2, 3}, 61, 1},
  };
  for (const ResetCase& c : cases) {
    Backoff backoff({}, 1);
    for (int i = 0; i < 3; ++i) (void)backoff.Failed(kStart);
    for (const int at : c.well_at) backoff.Succeeded(kStart + seconds(at));
    (void)backoff.Failed(kStart + seconds(c.fails_at));
    EXPECT_EQ(backoff.failures(), c.failures) << c.name;
  }
}

struct AskedCase {
  const char* name;
  std::optional<Millis> retry_after;
  Millis least, most;
};

TEST(Backoff, WaitsAsLongAsTheServerAsksWithinReason) {
  const AskedCase cases[] = {
      {"the server says nothing", std::nullopt, Millis(500), Millis(1'000)},
      {"a wait of nothing is no wait", Millis(0), Millis(500), Millis(1'000)},
      {"less than our own wait", Millis(100), Millis(500), Millis(1'000)},
      {"more than our own wait", Millis(5'000), Millis(5'000), Millis(5'100)},
      {"an absurd one", Millis(86'400'000), Millis(60'000), Millis(60'100)},
  };
  for (const AskedCase& c : cases) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Millis wait = Backoff({}, seed).Failed(kStart, c.retry_after);
      EXPECT_GE(wait, c.least) << c.name;
      EXPECT_LE(wait, c.most) << c.name;
    }
  }
}

}  // namespace
}  // namespace weft::kube
