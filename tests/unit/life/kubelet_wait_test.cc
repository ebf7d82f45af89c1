#include "operator/life/kubelet_wait.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/life/attempt_labels.h"
#include "operator/life/job_status.h"
#include "operator/life/stage.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

constexpr const char* kNoImage = "container t: ErrImagePull: image x:1 cannot be pulled";
const std::string kNotFound = std::string(kNoImage) + ": not found";

std::string Reason(const JobWorld& world, const char* type = "PodsReady") {
  return std::string(ReasonOf(world.status(), type));
}
std::string Message(const JobWorld& world, const char* type = "PodsReady") {
  const JobStatus status = world.status();
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? "" : condition->message;
}

// A gang whose pods are bound and do not start.
JobWorld Bound(std::uint32_t workers) {
  JobWorld world(workers);
  world.on_created = [](api::Pod& pod, const std::string& node) {
    pod.node_name = node;
    pod.phase = api::PodPhase::kPending;
  };
  return world;
}

TEST(KubeletWaitTest, AJobSaysAtOnceWhyItsWorkersWait) {
  JobWorld world = Bound(3);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world), "Starting");
  EXPECT_EQ(WhyOf(world.status()), "");
  const int writes = world.counts.status;
  world.pods[1]->waiting = kNotFound;
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world), "ErrImagePull");
  EXPECT_EQ(Message(world), "worker 1 on n1: " + kNotFound);
  EXPECT_EQ(StageOf(world.status()), Stage::kStarting);
  EXPECT_EQ(WhyOf(world.status()), "ErrImagePull");
  EXPECT_EQ(PhaseOf(world.status()), "Placed");
  EXPECT_EQ(world.counts.status, writes + 1);
}

TEST(KubeletWaitTest, NothingIsWrittenForWordsThatOnlyAlternate) {
  JobWorld world = Bound(2);
  ASSERT_TRUE(world.Settle());
  world.pods[0]->waiting = kNotFound;
  ASSERT_TRUE(world.Settle());
  const int writes = world.counts.status;
  bool back_off = false;
  ASSERT_TRUE(world.RunFor(600, 20, [&] {
    back_off = !back_off;
    world.pods[0]->waiting = back_off ? kNoImage : kNotFound;
  }));
  EXPECT_EQ(world.counts.status, writes);
  EXPECT_EQ(Message(world), "worker 0 on n0: " + kNotFound);
  // The cause comes later.
  JobWorld late = Bound(2);
  ASSERT_TRUE(late.Settle());
  late.pods[0]->waiting = kNoImage;
  ASSERT_TRUE(late.Settle());
  late.pods[0]->waiting = kNotFound;
  ASSERT_TRUE(late.RunFor(10, 1));
  EXPECT_EQ(Message(late), "worker 0 on n0: " + kNotFound);
}

TEST(KubeletWaitTest, AContainerThatRunsForAMomentByTurnsCostsFewWrites) {
  JobWorld world = Bound(1);
  ASSERT_TRUE(world.Settle());
  const int writes = world.counts.status;
  ASSERT_TRUE(world.RunFor(600, 1, [&] {
    const bool runs = world.now % 20 < 3;
    world.pods[0]->waiting = runs ? "" : "container s: CrashLoopBackOff: it ends again and again";
  }));
  EXPECT_LE(world.counts.status, writes + 61);  // two each 20 s
  EXPECT_EQ(Reason(world), "CrashLoopBackOff");
}

TEST(KubeletWaitTest, WorkersThatComeToTheSameEndAreCountedEveryFewSeconds) {
  JobWorld world = Bound(60);
  ASSERT_TRUE(world.Settle());
  const int writes = world.counts.status;
  std::size_t next = 60;
  ASSERT_TRUE(world.RunFor(65, 1, [&] {
    if (next > 0) world.pods[--next]->waiting = kNotFound;
  }));
  EXPECT_LE(world.counts.status, writes + 15);
  EXPECT_EQ(Message(world), "60 workers wait, first: worker 0 on n0: " + kNotFound);
}

TEST(KubeletWaitTest, TheReasonGoesWhenTheWorkersStart) {
  JobWorld world = Bound(2);
  ASSERT_TRUE(world.Settle());
  world.pods[1]->waiting = "FailedMount: no";
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world), "FailedMount");
  world.now += 60;
  world.pods[1]->waiting = "";
  ASSERT_TRUE(world.RunFor(16, 1));
  EXPECT_EQ(Reason(world), "Starting");
  EXPECT_EQ(Message(world), "every pod is bound");
  for (const auto& pod : world.pods) pod->ready = true;
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world), "AllReady");
}

TEST(KubeletWaitTest, TheTimeToStartCountsFromTheBindingWhateverIsTold) {
  JobWorld world = Bound(2);
  world.job.startup_timeout_seconds = 300;
  ASSERT_TRUE(world.Settle());
  world.now += 100;
  world.pods[0]->waiting = kNotFound;
  ASSERT_TRUE(world.Settle());
  world.now += 94;
  world.pods[0]->waiting = "container t: SomethingNew: words";
  ASSERT_TRUE(world.RunFor(6, 1));
  EXPECT_EQ(Reason(world), "ContainerWaiting");
  EXPECT_EQ(Message(world), "worker 0 on n0: container t: SomethingNew: words");
  EXPECT_EQ(world.status().record.restarts, 0);
  world.job.failure_policy.max_restarts = 1;
  world.now += 110;
  world.Settle();
  EXPECT_EQ(world.status().record.restarts, 1);
  EXPECT_EQ(world.status().record.last_failure->reason, "StartupTimeout");
}

constexpr const char* kPulls = "container t: Pulling: image x:1 since 2026-11-28T10:00:05Z";

TEST(KubeletWaitTest, AnImageThatIsPulledIsToldUnlessSomethingIsWrongElsewhere) {
  JobWorld world = Bound(3);
  ASSERT_TRUE(world.Settle());
  const int writes = world.counts.status;
  for (const std::size_t worker : {1U, 2U}) world.pods[worker]->waiting = kPulls;
  ASSERT_TRUE(world.RunFor(300, 1));
  EXPECT_EQ(Reason(world), "Pulling");
  EXPECT_EQ(Message(world), std::string("2 workers wait, first: worker 1 on n1: ") + kPulls);
  EXPECT_EQ(WhyOf(world.status()), "Pulling");
  EXPECT_EQ(world.counts.status, writes + 1);
  world.pods[2]->waiting = kNotFound;
  ASSERT_TRUE(world.RunFor(6, 1));
  EXPECT_EQ(Reason(world), "ErrImagePull");
  EXPECT_EQ(Message(world), "worker 2 on n2: " + kNotFound);
  // It has been pulled.
  for (const auto& pod : world.pods) pod->waiting = "";
  ASSERT_TRUE(world.RunFor(16, 1));
  EXPECT_EQ(Reason(world), "Starting");
}

TEST(KubeletWaitTest, ATimeoutNamesWhatIsWrongBeforeAnImageThatIsPulled) {
  for (const bool wrong : {false, true}) {
    JobWorld world = Bound(3);
    world.job.startup_timeout_seconds = 60;
    world.job.failure_policy.max_restarts = 0;
    ASSERT_TRUE(world.Settle());
    world.pods[1]->waiting = kPulls;
    if (wrong) world.pods[2]->waiting = kNotFound;
    ASSERT_TRUE(world.Settle());
    world.now += 60;
    world.Settle();
    EXPECT_EQ(
        Message(world, "Failed"),
        "not every worker was ready within startupTimeoutSeconds; " +
            (wrong ? "worker 2 on n2: " + kNotFound : std::string("worker 1 on n1: ") + kPulls) +
            "; failurePolicy.maxRestarts is 0");
  }
}

TEST(KubeletWaitTest, ANodeThatIsNotReadyIsToldBeforeWhatItsKubeletSaid) {
  JobWorld world = Bound(3);
  ASSERT_TRUE(world.Settle());
  world.pods[0]->waiting = kNotFound;
  ASSERT_TRUE(world.Settle());
  world.nodes["n1"].not_ready_since = world.now;
  ASSERT_TRUE(world.RunFor(6, 1));
  EXPECT_EQ(Reason(world), "NodeNotReady");
  EXPECT_TRUE(Message(world).starts_with("worker 1 on n1: the node is not Ready since "))
      << Message(world);
  const int writes = world.counts.status;
  ASSERT_TRUE(world.RunFor(30, 1));
  EXPECT_EQ(world.counts.status, writes);
  world.nodes.clear();
  ASSERT_TRUE(world.RunFor(6, 1));
  EXPECT_EQ(Message(world), "worker 0 on n0: " + kNotFound);
}

KubeletWait Says(const std::string& message) { return {"FailedMount", message}; }

TEST(KubeletWaitTest, ALostCauseIsNoNewsAndDigitsAreSmallNews) {
  using enum WaitNews;
  const KubeletWait told = Says("worker 0 on n0: a 12: b");
  EXPECT_EQ(NewsOf({}, {}), kNone);
  EXPECT_EQ(NewsOf({}, told), kFirst);
  EXPECT_EQ(NewsOf(told, {}), kNothing);
  EXPECT_EQ(NewsOf(told, told), kNone);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: a 12")), kNone);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: a 345: b")), kDigits);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: a 345")), kDigits);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: a 12: b: c")), kOther);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: a 1")), kDigits);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n0: ab")), kOther);
  EXPECT_EQ(NewsOf(told, Says("worker 1 on n0: a 12: b")), kOther);
  EXPECT_EQ(NewsOf(told, Says("worker 0 on n1: a 12: b")), kOther);
  EXPECT_EQ(NewsOf(told, Says("3 workers wait, first: worker 0 on n0: a 12: b")), kOther);
  EXPECT_EQ(NewsOf(told, {"ErrImagePull", told.message}), kOther);
}

TEST(KubeletWaitTest, ANameThatDiffersOnlyInDigitsIsToldWithinAMinute) {
  JobWorld world = Bound(1);
  ASSERT_TRUE(world.Settle());
  world.pods[0]->waiting = "container t: CreateContainerConfigError: secret \"key-1\" not found";
  ASSERT_TRUE(world.Settle());
  world.pods[0]->waiting = "container t: CreateContainerConfigError: secret \"key-2\" not found";
  ASSERT_TRUE(world.RunFor(65, 5));
  EXPECT_NE(Message(world).find("key-2"), std::string::npos);
}

// The counts of workers are written every few seconds meanwhile.
TEST(KubeletWaitTest, TheReasonGoesAlthoughWorkersBecomeReadyOneByOne) {
  JobWorld world = Bound(40);
  ASSERT_TRUE(world.Settle());
  world.pods[39]->waiting = kNotFound;
  ASSERT_TRUE(world.Settle());
  world.pods[39]->waiting = "";
  std::size_t next = 0;
  ASSERT_TRUE(world.RunFor(30, 6, [&] { world.pods[next++]->ready = true; }));
  EXPECT_EQ(Reason(world), "Starting");
}

TEST(KubeletWaitTest, TwoReasonsByTurnsCostFewWrites) {
  JobWorld world = Bound(2);
  ASSERT_TRUE(world.Settle());
  const int writes = world.counts.status;
  world.pods[1]->waiting = kNotFound;
  ASSERT_TRUE(world.RunFor(120, 1, [&] {
    const bool runs = world.now % 2 == 0;
    world.pods[0]->waiting = runs ? "" : "container s: CrashLoopBackOff: it ends again and again";
  }));
  EXPECT_LE(world.counts.status, writes + 25);
}

}  // namespace
}  // namespace weft::life
