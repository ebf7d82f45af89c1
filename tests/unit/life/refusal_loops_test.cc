// An hour of every loop of refusals: once settled, at most one write a minute and job, and pods are
// created and deleted only as often as the back-off says.
#include <gtest/gtest.h>

#include <cstdio>

#include "operator/life/attempt_labels.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

constexpr int kMinutes = 60;
constexpr std::uint32_t kWorkers = 64;

struct Loop {
  std::string name;
  void (*bend)(JobWorld&);
  int attempts;  // in an hour, at most
};

void PrintTo(const Loop& loop, std::ostream* out) { *out << loop.name; }

// Every node refuses the gang's worker 7 by its kubelet.
void Sicken(api::Pod& pod, const std::string& node) {
  pod.node_name = node;
  pod.phase =
      WorkerLabel(pod.meta) == WorkerIndex{7} ? api::PodPhase::kFailed : api::PodPhase::kRunning;
  if (pod.phase == api::PodPhase::kFailed) pod.reason = "UnexpectedAdmissionError";
  pod.ready = true;
}

void RefuseOne(api::Pod& pod, const std::string& node) {
  if (WorkerLabel(pod.meta) == WorkerIndex{7}) {
    pod.unscheduled = "0/200 nodes are available";
    return;
  }
  pod.node_name = node;
}

void BindHalf(api::Pod& pod, const std::string& node) {
  if (WorkerLabel(pod.meta).value_or(WorkerIndex{0}).Raw() % 2 == 0) pod.node_name = node;
}

void Crash(api::Pod& pod, const std::string& node) {
  pod.node_name = node;
  pod.phase = api::PodPhase::kFailed;
  pod.failure = api::Pod::Failure{"trainer", "Error", 1, ""};
}

class RefusalLoops : public ::testing::TestWithParam<Loop> {};

TEST_P(RefusalLoops, SettleToOneWriteAMinute) {
  JobWorld world(kWorkers);
  world.job.failure_policy.max_restarts = 1'000;
  GetParam().bend(world);
  // The loops back off at first; what counts is where they come to.
  ASSERT_TRUE(world.RunFor(3'600, 60));
  const JobWorld::Counts before = world.counts;
  const std::int64_t attempts = world.job.attempt;
  ASSERT_TRUE(world.RunFor(3'600, 60));
  const int writes = world.counts.writes() - before.writes();
  const int created = world.counts.pods_created - before.pods_created;
  const int deleted = world.counts.pods_deleted - before.pods_deleted;
  const auto tried = static_cast<int>(world.job.attempt - attempts);
  std::printf("%-22s %3d writes, %2d attempts, %4d pods created, %4d deleted in an hour\n",
              GetParam().name.c_str(), writes, tried, created, deleted);
  EXPECT_LE(writes, kMinutes);
  EXPECT_LE(tried, GetParam().attempts);
  EXPECT_LE(created, GetParam().attempts * static_cast<int>(kWorkers));
  EXPECT_LE(deleted, GetParam().attempts * static_cast<int>(kWorkers));
}

INSTANTIATE_TEST_SUITE_P(
    Every, RefusalLoops,
    ::testing::Values(
        Loop{"NoRoom", [](JobWorld& w) { w.room = false; }, 0},
        Loop{"NoQuotaForOne", [](JobWorld& w) { w.not_admitted = "exceeded quota"; }, 0},
        Loop{"QuotaForSome", [](JobWorld& w) { w.quota = 40; }, 7},
        Loop{"SickNodes", [](JobWorld& w) { w.on_created = Sicken; }, 7},
        Loop{"SchedulerDown", [](JobWorld& w) { w.on_created = [](auto&, auto&) {}; }, 0},
        Loop{"SchedulerDiesHalfway", [](JobWorld& w) { w.on_created = BindHalf; }, 7},
        Loop{"SchedulerRefuses", [](JobWorld& w) { w.on_created = RefuseOne; }, 7},
        Loop{"GatedByOthers",
             [](JobWorld& w) {
               w.on_created = [](api::Pod& pod, auto&) { pod.scheduling_gates = {"other"}; };
             },
             0},
        Loop{"ProgramCrashes", [](JobWorld& w) { w.on_created = Crash; }, 11}),
    [](const auto& loop) { return loop.param.name; });

}  // namespace
}  // namespace weft::life
