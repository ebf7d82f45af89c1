#include "operator/life/retry.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;
using Seconds = std::vector<std::int64_t>;

constexpr Cause kCauses[] = {Cause::kSchedulerRefused, Cause::kSchedulerSilent,
                             Cause::kAdmissionRefused, Cause::kNodeRejected,
                             Cause::kNodeLost,         Cause::kProgramFailed,
                             Cause::kNotReady};

std::int64_t WaitOf(const api::Retry& retry) {
  return retry.not_before.empty() ? 0 : *ParseTime(retry.not_before) - kNow;
}

// The waits of so many attempts that fail one after the other, jitter left out.
Seconds Waits(Cause cause, int count) {
  Seconds least(static_cast<std::size_t>(count), INT64_MAX);
  for (int object = 0; object < 2'000; ++object) {
    const std::string uid = "u" + std::to_string(object);
    api::Retry retry;
    for (int i = 0; i < count; ++i) {
      retry = NextRetry(retry, {cause, uid, i, std::nullopt}, kNow);
      std::int64_t& one = least[static_cast<std::size_t>(i)];
      one = std::min(one, WaitOf(retry));
    }
  }
  return least;
}

TEST(RetryTest, EachCauseWaitsLongerEachTime) {
  EXPECT_EQ(Waits(Cause::kSchedulerRefused, 9), (Seconds{0, 10, 20, 40, 80, 160, 320, 640, 900}));
  EXPECT_EQ(Waits(Cause::kNodeRejected, 4), (Seconds{0, 10, 20, 40}));
  EXPECT_EQ(Waits(Cause::kNodeLost, 8), (Seconds{0, 10, 20, 40, 80, 160, 320, 360}));
  EXPECT_EQ(Waits(Cause::kSchedulerSilent, 3), (Seconds{10, 20, 40}));
  EXPECT_EQ(Waits(Cause::kAdmissionRefused, 8), (Seconds{10, 20, 40, 80, 160, 320, 640, 900}));
  EXPECT_EQ(Waits(Cause::kProgramFailed, 8), (Seconds{10, 20, 40, 80, 160, 320, 360, 360}));
  EXPECT_EQ(Waits(Cause::kNotReady, 3), (Seconds{10, 20, 40}));
}

TEST(RetryTest, OnlyWhereTheNodeSaidNoItIsLeftOut) {
  std::set<Cause> out, softly, counted;
  for (const Cause cause : kCauses) {
    const RetryPolicy policy = PolicyOf(cause);
    if (policy.leave == Leave::kOut) out.insert(cause);
    if (policy.leave == Leave::kOutSoftly) softly.insert(cause);
    if (!policy.infrastructure) counted.insert(cause);
  }
  EXPECT_EQ(out, (std::set{Cause::kSchedulerRefused, Cause::kNodeRejected}));
  EXPECT_EQ(softly, (std::set{Cause::kProgramFailed, Cause::kNotReady}));
  EXPECT_EQ(counted, softly);
}

TEST(RetryTest, ObjectsThatFailTogetherAreTriedAgainSpreadOut) {
  std::set<std::int64_t> waits;
  for (int object = 0; object < 200; ++object) {
    const std::string uid = "u" + std::to_string(object);
    const Failed failed{Cause::kAdmissionRefused, uid, 1, std::nullopt};
    const api::Retry retry = NextRetry({.times = 9, .not_before = ""}, failed, kNow);
    EXPECT_EQ(retry, NextRetry({.times = 9, .not_before = ""}, failed, kNow));
    waits.insert(WaitOf(retry));
  }
  EXPECT_GE(*waits.begin(), 900);
  EXPECT_LE(*waits.rbegin(), 1125);
  EXPECT_GT(waits.size(), 80U);
}

TEST(RetryTest, AnAttemptThatLastedBeginsAnew) {
  const api::Retry before{.times = 5, .not_before = ""};
  const auto times = [&](Cause cause, std::optional<std::int64_t> ready) {
    return NextRetry(before, {cause, "u", 6, ready}, kNow).times;
  };
  EXPECT_EQ(times(Cause::kProgramFailed, std::nullopt), 6);
  EXPECT_EQ(times(Cause::kProgramFailed, 599), 6);
  EXPECT_EQ(times(Cause::kProgramFailed, 600), 1);
  EXPECT_EQ(times(Cause::kNodeLost, 59), 6);
  EXPECT_EQ(times(Cause::kNodeLost, 60), 1);
}

TEST(RetryTest, TheTimeIsTold) {
  EXPECT_EQ(RetryText({}), "");
  EXPECT_EQ(RetryText({.times = 1, .not_before = ""}), "");
  EXPECT_EQ(RetryText({.times = 1, .not_before = FormatTime(kNow)}),
            "; the next attempt starts at 2027-01-15T08:00:00Z");
  EXPECT_EQ(RetryText({.times = 3, .not_before = FormatTime(kNow)}),
            "; the next attempt starts at 2027-01-15T08:00:00Z, after 3 failures in a row");
}

TEST(RetryTest, ATimeThatOnlyAWrongClockCanHaveWrittenIsPast) {
  const auto left = [](std::int64_t seconds) {
    return RetryLeft({.times = 1, .not_before = FormatTime(kNow + seconds)}, kNow);
  };
  EXPECT_EQ(left(10), 10);
  EXPECT_EQ(left(-10), -10);
  EXPECT_EQ(left(1125 + 60), 1185);
  EXPECT_EQ(left(1125 + 61), 0);
  EXPECT_EQ(RetryLeft({}, kNow), 0);
  EXPECT_EQ(RetryLeft({.times = 1, .not_before = "no time"}, kNow), 0);
}

TEST(RetryTest, OddCountsOfAStatusAreTakenAsTheyCanBe) {
  const Failed failed{Cause::kNodeLost, "u", 1, std::nullopt};
  EXPECT_EQ(NextRetry({.times = INT64_MAX, .not_before = ""}, failed, kNow).times, 99'999);
  EXPECT_EQ(NextRetry({.times = -4, .not_before = ""}, failed, kNow).times, 1);
}

}  // namespace
}  // namespace weft::life
