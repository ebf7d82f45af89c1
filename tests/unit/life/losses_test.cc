#include "operator/life/losses.h"

#include <gtest/gtest.h>

#include "operator/life/job_status.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;
using Phase = api::RecoveryPhase;

JobWorld Gang(std::uint32_t workers = 4) {
  JobWorld world(workers);
  world.job.failure_policy.max_restarts = 9;
  world.job.checkpoint = api::CheckpointSpec{};
  EXPECT_TRUE(world.Settle());
  return world;
}

void Annotate(JobWorld& world, const char* key, UnixSeconds time) {
  world.job.meta.annotations.Set(key, FormatTime(time));
}

void Checkpoint(JobWorld& world) {
  Annotate(world, api::kLastCheckpointTime, world.now);
  world.RunFor(10, 1);  // status.workers and this are written at most every 5 s
}

void End(JobWorld& world, std::size_t worker) {
  api::Pod& pod = *world.pods[worker];
  pod.phase = api::PodPhase::kFailed;
  pod.ready = false;
  pod.failure = api::Pod::Failure{"trainer", "Error", 1, "", world.now};
  pod.exits = {{"trainer", 1}};
}

const api::LostTime& LostOf(const JobWorld& world) { return *world.job.record.lost; }

TEST(LossesTest, AJobWithoutCheckpointsHasNoneOfTheFields) {
  JobWorld world(2);
  world.job.failure_policy.max_restarts = 9;
  Annotate(world, api::kLastCheckpointTime, world.now);
  world.Settle();
  End(world, 1);
  world.RunFor(60, 5);
  EXPECT_EQ(world.job.record.checkpoint, std::nullopt);
  EXPECT_EQ(world.job.record.recovery, std::nullopt);
  EXPECT_EQ(world.job.record.lost, std::nullopt);
}

TEST(LossesTest, CountsTheSecondsOfAFailure) {
  JobWorld world = Gang();
  const UnixSeconds begin = world.now;
  world.RunFor(1'000, 60);
  Checkpoint(world);
  world.RunFor(290, 60);
  End(world, 1);
  world.now += 7;       // until the operator hears of it
  world.RunFor(20, 1);  // a pause before the next attempt; then all are ready at once
  EXPECT_EQ(LostOf(world).kept, 1'000);
  EXPECT_EQ(LostOf(world).work, 300);
  EXPECT_EQ(LostOf(world).detect, 7);
  EXPECT_EQ(LostOf(world).failures, 1);
  EXPECT_TRUE(LostOf(world).exact);
  ASSERT_TRUE(world.job.record.recovery);
  EXPECT_EQ(*world.job.record.recovery,
            (api::Recovery{"ProgramFailed", 1, "n1", begin + 1'300, Phase::kLoading}));
  const UnixSeconds ready = *LostOf(world).until;
  world.now = ready + 40;
  Annotate(world, api::kFirstStepTime, world.now);
  world.RunFor(10, 1);
  EXPECT_EQ(world.job.record.recovery, std::nullopt);
  EXPECT_EQ(LostOf(world).load, 40);
  EXPECT_EQ(LostOf(world).wall(), ready + 40 - begin);
}

TEST(LossesTest, ANodeIsLostWhenItStoppedToBeReady) {
  JobWorld world = Gang();
  Checkpoint(world);
  const UnixSeconds lost = world.now;
  world.nodes["n2"] = {.not_ready_since = lost};
  world.RunFor(70, 1);
  EXPECT_EQ(LostOf(world).work, 10);
  EXPECT_EQ(LostOf(world).detect, 60);  // --node-loss
}

TEST(LossesTest, CountsBindingAsReplacementAndContainersAsStart) {
  JobWorld world = Gang();
  Checkpoint(world);
  world.on_created = [](api::Pod&, const std::string&) {};  // kube-scheduler is slow
  End(world, 1);
  world.RunFor(40, 1);
  EXPECT_EQ(world.job.record.recovery->phase, Phase::kReplacing);
  for (std::size_t i = 0; i < world.pods.size(); ++i) {
    world.pods[i]->node_name = world.placements.back()->nodes[i];
    world.pods[i]->phase = api::PodPhase::kRunning;
  }
  world.RunFor(25, 1);
  EXPECT_EQ(world.job.record.recovery->phase, Phase::kStarting);
  for (auto& pod : world.pods) pod->ready = true;
  world.RunFor(5, 1);
  EXPECT_EQ(world.job.record.recovery->phase, Phase::kLoading);
  EXPECT_EQ(LostOf(world).replace, 40);
  EXPECT_EQ(LostOf(world).start, 25);
}

TEST(LossesTest, ReadsWhatWorker0sPodSays) {
  JobWorld world = Gang();
  world.now += 100;
  world.pods[0]->meta.annotations.Set(api::kLastCheckpointTime, FormatTime(world.now));
  world.pods[0]->meta.annotations.Set(api::kLastCheckpointStep, "1200");
  world.pods[1]->meta.annotations.Set(api::kLastCheckpointTime, FormatTime(world.now + 5));
  world.RunFor(10, 1);
  ASSERT_TRUE(world.job.record.checkpoint);
  EXPECT_EQ(world.job.record.checkpoint->last_time, world.now - 10);
  EXPECT_EQ(world.job.record.checkpoint->last_step, 1'200);
  EXPECT_EQ(LostOf(world).kept, 100);
}

TEST(LossesTest, TimesThatCannotBeDoNotCount) {
  JobWorld world = Gang();
  world.now += 100;
  const auto last = [&world](const std::string& text) {
    world.job.meta.annotations.Set(api::kLastCheckpointTime, text);
    world.RunFor(10, 1);
    return world.job.record.checkpoint->last_time;
  };
  EXPECT_EQ(last("yesterday"), std::nullopt);
  EXPECT_EQ(last(FormatTime(world.now + 3'600)), std::nullopt);
  const UnixSeconds good = world.now;
  EXPECT_EQ(last(FormatTime(good)), good);
  EXPECT_EQ(last(FormatTime(good - 50)), good);  // older than what is known
}

TEST(LossesTest, WorkThatIsLostWithoutACheckpointIsNotExact) {
  JobWorld world = Gang();
  world.now += 100;
  End(world, 1);
  world.Settle();
  EXPECT_EQ(LostOf(world).work, 100);
  EXPECT_FALSE(LostOf(world).exact);
}

TEST(LossesTest, ASuspendedJobCountsNothing) {
  JobWorld world = Gang();
  Checkpoint(world);
  world.job.suspend = true;
  world.RunFor(1'000, 5);
  EXPECT_EQ(LostOf(world).until, std::nullopt);
  EXPECT_EQ(LostOf(world).work, 10);
  EXPECT_EQ(LostOf(world).failures, 0);
  world.job.suspend = false;
  world.RunFor(10, 1);
  EXPECT_TRUE(LostOf(world).until);
  EXPECT_EQ(LostOf(world).wall(), 10);
}

TEST(LossesTest, AJobThatFailsForGoodLosesWhatNoCheckpointHolds) {
  JobWorld world = Gang();
  world.job.failure_policy.max_restarts = 0;
  Checkpoint(world);
  for (auto& pod : world.pods) pod->phase = api::PodPhase::kFailed;
  End(world, 1);
  world.RunFor(200, 1);
  ASSERT_TRUE(Is(world.status(), "Failed"));
  EXPECT_EQ(LostOf(world).work, 10);
  EXPECT_EQ(LostOf(world).until, std::nullopt);
  EXPECT_EQ(world.job.record.recovery, std::nullopt);
}

TEST(LossesTest, AGoodEndKeepsAll) {
  JobWorld world = Gang();
  world.now += 100;
  for (auto& pod : world.pods) {
    pod->phase = api::PodPhase::kSucceeded;
    pod->ready = false;
  }
  world.Settle();
  ASSERT_TRUE(Is(world.status(), "Complete"));
  api::LostTime kept;
  kept.kept = 100;
  EXPECT_EQ(LostOf(world), kept);
}

// A new leader's clock is behind that of the one before: no second is to be counted.
TEST(LossesTest, NothingIsCountedAfterAnEndAtAnEarlierTime) {
  JobWorld world = Gang();
  world.now -= 90;
  for (auto& pod : world.pods) {
    pod->phase = api::PodPhase::kSucceeded;
    pod->ready = false;
  }
  world.Settle();
  ASSERT_TRUE(Is(world.status(), "Complete"));
  EXPECT_EQ(LostOf(world), api::LostTime());
}

TEST(LossesTest, CountsFromWhenARunningJobGetsItsCheckpointsAndForgetsWithThem) {
  JobWorld world(2);
  world.Settle();
  world.now += 100;
  world.job.checkpoint = api::CheckpointSpec{};
  world.RunFor(10, 1);
  EXPECT_GE(*LostOf(world).until, world.now - 10);
  world.job.checkpoint.reset();
  world.RunFor(10, 1);
  EXPECT_EQ(world.job.record.lost, std::nullopt);
  EXPECT_EQ(world.job.record.checkpoint, std::nullopt);
}

TEST(LossesTest, AdvisesAnInterval) {
  JobWorld world = Gang(4);
  world.job.checkpoint->stall_seconds = 10;
  world.RunFor(10, 1);
  // M = 1,000 d / (4 x 3.79) = 5.7 million s; sqrt(2 x 10 x M) is 10,676 s.
  EXPECT_NEAR(static_cast<double>(*world.job.record.checkpoint->advised_interval_seconds), 10'669,
              2);
}

}  // namespace
}  // namespace weft::life
