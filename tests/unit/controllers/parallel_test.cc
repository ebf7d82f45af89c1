#include "operator/controllers/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace weft::controllers {
namespace {

Error Of(ErrorKind kind) { return {kind, "no"}; }

TEST(ForEach, CallsOncePerIndex) {
  std::vector<std::atomic<int>> calls(16'384);
  ForEach(run::SystemExecutor(), calls.size(), 16, [&](std::size_t i) { return ++calls[i] == 1; });
  for (const auto& one : calls) EXPECT_EQ(one, 1);
}

// As after SIGTERM: every write fails at once, and nobody waits for 16,384 of them.
TEST(RunBatch, EndsWhereNothingIsAnswered) {
  std::atomic<int> calls{0};
  const Batch batch =
      RunBatch(run::SystemExecutor(), 16'384, 8, OnError::kGoOn, [&](std::size_t) -> Status {
        ++calls;
        return Of(ErrorKind::kTransient);
      });
  EXPECT_LE(calls, static_cast<int>(kUnansweredAtMost) + 8);
  ASSERT_TRUE(batch.error);
  EXPECT_EQ(batch.error->kind, ErrorKind::kTransient);
  EXPECT_FALSE(batch.cut);
}

TEST(RunBatch, ARefusedObjectDoesNotHoldTheOthersUp) {
  const auto every_second = [](std::size_t i) {
    return i % 2 == 0 ? Status(Of(ErrorKind::kInvalid)) : Status();
  };
  const Batch on = RunBatch(run::SystemExecutor(), 100, 1, OnError::kGoOn, every_second);
  EXPECT_EQ(on.done, 50U);
  EXPECT_TRUE(on.error);
  const Batch stopped = RunBatch(run::SystemExecutor(), 100, 1, OnError::kStop, every_second);
  EXPECT_EQ(stopped.done, 0U);
  EXPECT_TRUE(stopped.error);
}

// Real threads; only its time is set.
class SetClock final : public run::Executor {
 public:
  run::Instant Now() const override { return now; }
  run::WallMicros Wall() const override { return run::SystemExecutor().Wall(); }
  std::unique_ptr<run::Thread> Start(std::function<void()> work) override {
    return run::SystemExecutor().Start(std::move(work));
  }
  std::unique_ptr<run::Condition> NewCondition() override {
    return run::SystemExecutor().NewCondition();
  }

  std::atomic<run::Instant> now{run::Instant{}};
};

TEST(RunBatch, LeavesTheRestForLaterAfterASlice) {
  SetClock clock;
  const Batch batch = RunBatch(clock, 100, 1, OnError::kStop, [&](std::size_t) {
    clock.now = clock.now.load() + std::chrono::milliseconds(300);
    return Status();
  });
  EXPECT_EQ(batch.done, 4U);
  EXPECT_TRUE(batch.cut);
  EXPECT_FALSE(batch.error);
}

}  // namespace
}  // namespace weft::controllers
