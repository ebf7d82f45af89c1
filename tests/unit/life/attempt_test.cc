#include "operator/life/attempt.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/exclusion.h"
#include "operator/predict/predict.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;
using Names = std::vector<std::string>;

std::string Reason(const JobWorld& world, const char* type) {
  return std::string(ReasonOf(world.status(), type));
}
std::string Message(const JobWorld& world, const char* type) {
  const JobStatus status = world.status();
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? "" : condition->message;
}

// kube-scheduler does not run.
void Silence(api::Pod&, const std::string&) {}

void Bind(JobWorld& world, std::size_t pod) {
  for (const auto& placement : world.placements) {
    const auto worker = WorkerLabel(world.pods.at(pod)->meta);
    world.pods.at(pod)->node_name = placement->nodes.at(worker->Raw());
  }
}

TEST(AttemptTest, AGangThatNobodyLookedAtWaitsForKubeScheduler) {
  JobWorld world(3);
  world.on_created = Silence;
  ASSERT_TRUE(world.RunFor(3'600, 60));
  EXPECT_EQ(world.status().attempt, 1);
  EXPECT_EQ(Reason(world, "PodsReady"), "SchedulerSilent");
  EXPECT_EQ(Message(world, "PodsReady"),
            "none of 3 pods is bound, and kube-scheduler has reported nothing about them; is it "
            "running?");
  EXPECT_TRUE(world.status().record.excluded.empty());
  EXPECT_EQ(world.counts.pods_deleted, 0);

  // It is back: the gang has the whole window again, and the whole time to start.
  Bind(world, 0);
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world, "PodsReady"), "Binding");
  world.now += 59;
  Bind(world, 1);
  Bind(world, 2);
  EXPECT_EQ(world.Settle()->seconds, 900 - 60);
  EXPECT_EQ(Reason(world, "PodsReady"), "Starting");
  for (const auto& pod : world.pods) pod->ready = true;
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.status().attempt, 1);
}

TEST(AttemptTest, AGangThatIsHalfBoundInSilenceIsUndoneAndLeavesNoNodeOut) {
  JobWorld world(3);
  world.on_created = Silence;
  world.Settle();
  Bind(world, 0);
  ASSERT_TRUE(world.RunFor(62, 60));
  EXPECT_EQ(world.Settle()->seconds, 11);  // 10 and jitter
  EXPECT_EQ(Reason(world, "Placed"), "Restarting");
  EXPECT_EQ(Reason(world, "Restarting"), "SchedulerSilent");
  EXPECT_EQ(Message(world, "Placed"),
            "attempt 1 was taken down: 2 workers not bound; kube-scheduler reported nothing about "
            "them; the "
            "next attempt starts at 2027-01-15T08:01:13Z");
  EXPECT_TRUE(world.status().record.excluded.empty());
  EXPECT_TRUE(world.pods.empty());
  EXPECT_EQ(world.status().record.restarts, 0);
}

TEST(AttemptTest, GatesOfOthersAreWaitedForAndNamed) {
  JobWorld world(2);
  world.on_created = [](api::Pod& pod, const std::string&) {
    pod.scheduling_gates = {"kueue.x-k8s.io/admission"};
  };
  ASSERT_TRUE(world.RunFor(86'400, 600));
  EXPECT_EQ(world.status().attempt, 1);
  EXPECT_EQ(Reason(world, "PodsReady"), "SchedulingGated");
  EXPECT_EQ(Message(world, "PodsReady"),
            "waiting for another controller to remove scheduling gates of 2 of 2 pods: "
            "kueue.x-k8s.io/admission");
  for (const auto& pod : world.pods) pod->scheduling_gates.clear();
  EXPECT_EQ(world.Settle()->seconds, 2);
  EXPECT_EQ(Reason(world, "PodsReady"), "Binding");
}

TEST(AttemptTest, AGangWhosePodsTakeLongToCreateIsNotUndone) {
  JobWorld world(64);
  world.on_created = [&](api::Pod& pod, const std::string& node) {
    world.now += 10;  // 640 s in all, where the deadline is 60
    pod.node_name = node;
    pod.phase = api::PodPhase::kRunning;
    pod.ready = true;
  };
  world.Settle();
  EXPECT_EQ(Reason(world, "PodsReady"), "AllReady");
  EXPECT_EQ(world.status().attempt, 1);
}

TEST(AttemptTest, AGangThatIsBoundAtOnceHasNoStageOfBinding) {
  JobWorld world(3);
  world.on_created = Silence;
  EXPECT_EQ(world.Settle()->seconds, 2);
  EXPECT_EQ(Reason(world, "PodsReady"), "Creating");
  world.now += 1;
  for (std::size_t pod = 0; pod < 3; ++pod) Bind(world, pod);
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world, "PodsReady"), "Starting");
  EXPECT_EQ(world.counts.status, 2);  // Placed, then Starting
}

// The pod garbage collector takes ended pods of a busy cluster, and a node that is removed takes
// its pods along, while another worker still writes the last checkpoint.
TEST(AttemptTest, AWorkerThatSucceededCountsWhenItsPodIsGone) {
  JobWorld world(3);
  world.Settle();
  for (std::size_t pod : {1, 2}) {
    world.pods[pod]->phase = api::PodPhase::kSucceeded;
    world.pods[pod]->ready = false;
  }
  ASSERT_TRUE(world.RunFor(10, 1));
  EXPECT_EQ(world.status().record.completed_indexes, "1,2");
  world.pods.resize(1);
  world.nodes["n1"].exists = false;
  ASSERT_TRUE(world.RunFor(3'600, 60));
  EXPECT_EQ(world.status().attempt, 1);
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.status().record.workers.succeeded, 2);
  world.pods[0]->phase = api::PodPhase::kSucceeded;
  world.Settle();
  EXPECT_EQ(PhaseOf(world.status()), "Complete");
  EXPECT_EQ(world.counts.pods_created, 3);
}

TEST(AttemptTest, ANewAttemptBeginsWithoutTheSuccessesOfTheOldOne) {
  JobWorld world(3);
  world.Settle();
  world.pods[2]->phase = api::PodPhase::kSucceeded;
  ASSERT_TRUE(world.RunFor(10, 1));
  world.pods[0]->meta.deleting = true;
  ASSERT_TRUE(world.RunFor(10, 1));
  world.pods.clear();
  ASSERT_TRUE(world.RunFor(60, 1));
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.status().record.completed_indexes, "");
  EXPECT_EQ(world.pods.size(), 3U);
}

TEST(AttemptTest, AGangWithoutItsPlacementIsUndoneBeforeAllPodsExist) {
  JobWorld world(3);
  world.on_created = Silence;
  world.Settle();
  ASSERT_EQ(Reason(world, "PodsReady"), "Creating");
  world.pods.pop_back();
  world.placements.clear();
  ASSERT_TRUE(world.RunFor(5, 1));
  EXPECT_EQ(Reason(world, "Restarting"), "PlacementDeleted");
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.pods.size(), 3U);
}

TEST(AttemptTest, AGangWithoutItsPlacementIsUndoneBeforeItIsBound) {
  for (const std::int64_t seconds : {2, 30, 3'600}) {
    JobWorld world(3);
    world.on_created = Silence;
    world.Settle();
    ASSERT_TRUE(world.RunFor(seconds, 1));
    ASSERT_EQ(Reason(world, "Restarting"), "") << seconds;
    world.placements.clear();
    ASSERT_TRUE(world.RunFor(5, 1));
    EXPECT_EQ(Reason(world, "Restarting"), "PlacementDeleted") << seconds;
    EXPECT_EQ(world.status().attempt, 2) << seconds;
  }
}

// The pods may be seen before the Placement.
TEST(AttemptTest, TheNewsOfAPlacementMayBeLate) {
  JobWorld world(3);
  world.on_created = Silence;
  world.Settle();
  auto placements = std::exchange(world.placements, {});
  ASSERT_TRUE(world.RunFor(1, 1));
  EXPECT_EQ(Reason(world, "Restarting"), "");
  world.placements = std::move(placements);
  ASSERT_TRUE(world.RunFor(10, 1));
  EXPECT_EQ(world.status().attempt, 1);
}

TEST(AttemptTest, AClockThatDiffersFromTheApiServersUndoesNothing) {
  for (const std::int64_t skew : {-86'400, -3'600, -61, 61, 3'600, 86'400}) {
    JobWorld world(3);
    world.on_created = Silence;
    world.Settle();
    for (const auto& pod : world.pods) {
      pod->meta.creation_timestamp = FormatTime(world.now + skew);
      pod->unscheduled = "0/9 nodes are available";
    }
    world.now += 2;
    world.Settle();
    world.now += 59;
    world.Settle();
    EXPECT_EQ(Reason(world, "PodsReady"), "Binding") << skew;
    world.now += 1;
    world.Settle();
    EXPECT_EQ(Reason(world, "Restarting"), "BindRefused") << skew;
  }
}

TEST(AttemptTest, AWindowThatAWrongClockOpenedIsOpenedAnew) {
  JobWorld world(3);
  world.on_created = Silence;
  world.Settle();
  Bind(world, 0);
  world.now -= 3'600;  // set back, or another leader's
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(*SinceStage(world.status(), Stage::kBinding), world.now);
  world.now += 60;
  world.Settle();
  EXPECT_EQ(Reason(world, "Restarting"), "SchedulerSilent");
}

TEST(AttemptTest, RestartsTheBindWindowThatAnEarlierVersionRecorded) {
  JobWorld world(2);
  world.on_created = Silence;
  world.Settle();
  for (api::Condition& condition : world.job.conditions) {
    if (condition.type == "PodsReady") condition.status = "False";
  }
  world.now += 3'600;
  EXPECT_EQ(world.Settle()->seconds, 2);
  EXPECT_EQ(SinceStage(world.status(), Stage::kBinding), world.now);
}

TEST(AttemptTest, ARefusedQuotaEndsTheAttemptAtOnceAndBacksOff) {
  JobWorld world(8);
  world.quota = 5;
  EXPECT_EQ(world.Settle()->seconds, 11);  // 10 and jitter
  EXPECT_EQ(world.counts.refused, 1);
  EXPECT_EQ(world.counts.pods_created, 5);
  EXPECT_EQ(world.counts.pods_deleted, 5);
  EXPECT_EQ(Message(world, "Placed"),
            "attempt 1 was taken down: exceeded quota: pods; the next attempt starts at "
            "2027-01-15T08:00:11Z");
  EXPECT_EQ(Reason(world, "Restarting"), "CreateRefused");
  EXPECT_TRUE(world.status().record.excluded.empty());
  EXPECT_TRUE(world.placements.empty());
}

TEST(AttemptTest, AJobWhosePodsWereRefusedIsTriedBeforeItGetsNodesAgain) {
  JobWorld world(8);
  world.quota = 5;
  world.Settle();
  EXPECT_EQ(world.counts.trials, 2);
  world.not_admitted = "8 workers at once: exceeded quota: few";
  world.job.meta.generation = 2;  // the trial is made once in a generation
  world.now += 11;
  EXPECT_EQ(world.Settle()->seconds, 2);
  EXPECT_EQ(Message(world, "Accepted"), world.not_admitted);
  EXPECT_EQ(world.counts.pods_created, 5);  // those of the first attempt
  world.quota = 8;
  world.not_admitted.clear();
  world.now += 2;
  world.Settle();
  EXPECT_EQ(Reason(world, "Accepted"), "Valid");
  EXPECT_EQ(Reason(world, "PodsReady"), "AllReady");
}

TEST(AttemptTest, ANodeWhoseKubeletRefusesPodsIsLeftOut) {
  for (const char* reason : {"UnexpectedAdmissionError", "OutOfnvidia.com/gpu", "NodeAffinity"}) {
    JobWorld world(3);
    world.on_created = [&](api::Pod& pod, const std::string& node) {
      pod.node_name = node;
      pod.phase = node == "n1" ? api::PodPhase::kFailed : api::PodPhase::kRunning;
      if (node == "n1") pod.reason = reason;
      pod.ready = node != "n1";
    };
    EXPECT_TRUE(world.Settle());
    EXPECT_EQ(PhaseOf(world.status()), "Running");
    EXPECT_EQ(world.status().attempt, 2);
    EXPECT_EQ(world.status().record.restarts, 0);
    EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now), Names{"n1"});
    EXPECT_EQ(Message(world, "Restarting"),
              "worker 1 on n1 was rejected by the kubelet (" + std::string(reason) + ")");
  }
}

TEST(AttemptTest, TheProgramThatEndedFirstIsBlamed) {
  JobWorld world(4);
  world.Settle();
  const auto fail = [&](std::size_t worker, std::int64_t exit_code, std::int64_t ended) {
    world.pods[worker]->phase = api::PodPhase::kFailed;
    world.pods[worker]->failure = api::Pod::Failure{"trainer", "Error", exit_code, "", ended};
  };
  fail(0, 1, 0);  // nobody said when
  fail(1, 1, world.now + 9);
  fail(3, 137, world.now + 7);
  world.now += world.options.node_news_seconds + 7;  // worker 2 has not ended
  world.Settle();
  EXPECT_EQ(world.status().record.last_failure->worker, 3);
  EXPECT_EQ(world.status().record.last_failure->exit_code, 137);
}

TEST(AttemptTest, ANodeOnWhichProgramsFailTwiceInARowIsAvoidedSoftly) {
  JobWorld world(2);
  world.job.failure_policy.max_restarts = 9;
  world.on_created = [&](api::Pod& pod, const std::string& node) {
    pod.node_name = node;
    pod.phase = api::PodPhase::kRunning;
    pod.ready = true;
  };
  const auto fail = [&] {
    EXPECT_TRUE(world.Settle());
    world.pods[1]->phase = api::PodPhase::kFailed;
    EXPECT_TRUE(world.Settle());
  };
  using enum api::ExclusionEffect;
  const auto avoided = [&] {
    return ExcludedAt(world.status().record.excluded, world.now, kPreferNoSchedule);
  };
  fail();
  EXPECT_EQ(avoided(), Names{});
  world.now += 20;
  fail();
  EXPECT_EQ(avoided(), Names{"n1"});
  EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now), Names{});
  EXPECT_NE(Message(world, "Restarting").find("the next attempts avoid node n1 if they can"),
            std::string::npos);
  EXPECT_EQ(world.status().record.restarts, 2);
}

TEST(AttemptTest, AJobThatIsResumedIsTriedAtOnce) {
  JobWorld world(8);
  world.quota = 5;
  EXPECT_EQ(world.Settle()->seconds, 11);  // 10 and jitter
  world.job.suspend = true;
  world.Settle();
  world.job.suspend = false;
  world.quota = 8;
  world.Settle();
  EXPECT_EQ(PhaseOf(world.status()), "Running");
}

TEST(AttemptTest, AChangeOfARunningJobIsNotHeldAgainstItsOwnQuota) {
  JobWorld world(2);
  world.Settle();
  ++world.job.meta.generation;
  world.not_admitted = "exceeded quota";
  world.Settle();
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.status().record.observed_generation, world.job.meta.generation);
}

// All ranks depend on the number of workers, so the gang begins anew with the new one.
TEST(AttemptTest, AnotherNumberOfWorkersEndsTheAttemptAndCostsNoRestart) {
  for (const std::uint32_t replicas : {2U, 5U}) {
    JobWorld world(3);
    world.Settle();
    ASSERT_EQ(PhaseOf(world.status()), "Running");
    world.job.replicas = replicas;
    ++world.job.meta.generation;
    ASSERT_TRUE(world.RunFor(20, 1));
    EXPECT_EQ(Reason(world, "Restarting"), "SpecChanged");
    EXPECT_EQ(Message(world, "Restarting"),
              "spec.workers.replicas is " + std::to_string(replicas) + ", attempt 1 has 3 workers");
    EXPECT_EQ(PhaseOf(world.status()), "Running");
    EXPECT_EQ(world.status().attempt, 2);
    EXPECT_EQ(world.status().record.restarts, 0);
    EXPECT_EQ(world.status().record.workers.desired, replicas);
    EXPECT_EQ(world.pods.size(), replicas);
  }
}

TEST(AttemptTest, NodesForAnotherNumberOfWorkersGetNoPods) {
  JobWorld world(3);
  world.on_status = [&](const JobStatus& status) {
    if (status.attempt != 1 || world.job.replicas != 3) return;
    world.job.replicas = 2;
    ++world.job.meta.generation;
  };
  ASSERT_TRUE(world.RunFor(20, 1));
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.counts.pods_created, 2);
}

TEST(AttemptTest, WorkersThatAllSucceededCompleteTheJobWhateverTheSpecSaysNow) {
  JobWorld world(3);
  world.Settle();
  for (const auto& pod : world.pods) pod->phase = api::PodPhase::kSucceeded;
  world.job.replicas = 2;
  world.Settle();
  EXPECT_EQ(PhaseOf(world.status()), "Complete");
  EXPECT_EQ(world.status().record.completed_indexes, "0-2");
}

TEST(AttemptTest, AUserWhoChangesTheNumberAllTheTimeWaits) {
  JobWorld world(3);
  ASSERT_TRUE(world.RunFor(600, 1, [&] {
    if (PhaseOf(world.status()) != "Running") return;
    world.job.replicas = world.job.replicas == 3 ? 2 : 3;
    ++world.job.meta.generation;
  }));
  EXPECT_LE(world.status().attempt, 10);
}

// What admission adds is known only of the generation that was tried.
TEST(AttemptTest, AfterAnEditTheNextAttemptIsTriedAgain) {
  JobWorld world(3);
  world.Settle();
  ++world.job.meta.generation;  // maxRestarts, say
  world.Settle();
  EXPECT_EQ(world.counts.trials, 1);
  EXPECT_EQ(world.status().record.observed_generation, world.job.meta.generation);
  world.pods[1]->meta.deleting = true;
  ASSERT_TRUE(world.RunFor(10, 1));
  world.pods.clear();
  ASSERT_TRUE(world.RunFor(60, 1));
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.counts.trials, 2);
}

// An earlier version, which did not write it, took edits of a running job without a dry run.
TEST(AttemptTest, AConditionThatNamesNoGenerationIsOfNone) {
  JobWorld world(3);
  world.Settle();
  for (api::Condition& one : world.job.conditions) one.observed_generation = 0;
  world.job.record.observed_generation = ++world.job.meta.generation;
  world.Settle();
  EXPECT_EQ(world.counts.trials, 1);
  world.pods[1]->meta.deleting = true;
  ASSERT_TRUE(world.RunFor(10, 1));
  world.pods.clear();
  ASSERT_TRUE(world.RunFor(60, 1));
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.counts.trials, 2);
}

// A program that is told to stop may end with 0.
TEST(AttemptTest, APodThatEndsBecauseItIsDeletedHasNotSucceeded) {
  JobWorld world(3);
  world.Settle();
  world.pods[1]->phase = api::PodPhase::kSucceeded;
  world.pods[1]->meta.deleting = true;
  world.Settle();
  EXPECT_EQ(Reason(world, "Restarting"), "PodDeleted");
  EXPECT_EQ(world.status().record.completed_indexes, "");
}

TEST(AttemptTest, ASuccessThatWasSeenCountsBeforeItIsWritten) {
  JobWorld world(3);
  world.Settle();
  world.succeeded = {false, true};
  world.pods.erase(world.pods.begin() + 1);
  ASSERT_TRUE(world.RunFor(60, 1));
  EXPECT_EQ(world.status().attempt, 1);
  EXPECT_EQ(world.status().record.completed_indexes, "1");
}

TEST(AttemptTest, AComputeDomainGoesAtTheEndWhateverTheSpecSaysThen) {
  for (const bool had : {false, true}) {
    JobWorld world(2);
    world.Settle();
    world.placements.front()->topology.compute_domain = had;
    for (const auto& pod : world.pods) pod->phase = api::PodPhase::kSucceeded;
    world.Settle();
    EXPECT_EQ(PhaseOf(world.status()), "Complete");
    const auto& told = world.placements.front()->conditions;
    EXPECT_EQ(api::FindCondition(told, api::kFilesDeleted) != nullptr, had);
  }
}

TEST(AttemptTest, WhatEndedBeforeItIsSuspendedOrLateIsComplete) {
  for (const bool suspended : {false, true}) {
    JobWorld world(3);
    world.job.active_deadline_seconds = 100;
    world.Settle();
    for (const auto& pod : world.pods) pod->phase = api::PodPhase::kSucceeded;
    world.job.suspend = suspended;
    if (!suspended) world.now += 1'000;
    world.Settle();
    EXPECT_EQ(PhaseOf(world.status()), "Complete");
  }
}

// A request that was under way arrives after the gang is gone.
TEST(AttemptTest, APodThatArrivesAfterItsAttemptIsDeleted) {
  JobWorld world(3);
  world.Settle();
  auto late = std::make_unique<api::Pod>(*world.pods[1]);
  late->meta.key.name += "-late";
  late->meta.uid += "-late";
  world.room = false;
  world.pods[1]->meta.deleting = true;
  ASSERT_TRUE(world.RunFor(10, 1));
  world.pods.clear();
  ASSERT_TRUE(world.RunFor(60, 1));
  ASSERT_EQ(PhaseOf(world.status()), "Pending");
  world.pods.push_back(std::move(late));
  ASSERT_TRUE(world.RunFor(10, 1));
  EXPECT_TRUE(world.pods.empty() || world.pods.front()->meta.deleting);
}

// The others have met it already.
TEST(AttemptTest, APodThatGoesWhileOthersAreMadeIsNotMadeAgain) {
  JobWorld world(3);
  world.on_created = Silence;
  world.Settle();
  ASSERT_EQ(Reason(world, "PodsReady"), "Creating");
  world.pods.erase(world.pods.begin() + 1);
  world.seen = {true, true};
  world.Settle();
  EXPECT_EQ(Reason(world, "Restarting"), "PodDeleted");
}

TEST(AttemptTest, AWarningOfMemoryIsTheJobsUntilAnAttemptFits) {
  JobWorld world(2);
  world.of_placement = {{api::kMemoryFits, "False", "DoesNotFit", "a GPU would hold 2TB", ""}};
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Reason(world, api::kMemoryFits), "DoesNotFit");
  EXPECT_EQ(Message(world, api::kMemoryFits), "a GPU would hold 2TB");
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  world.of_placement.clear();
  world.pods.at(0)->phase = api::PodPhase::kFailed;
  world.job.failure_policy.max_restarts = 1;
  ASSERT_TRUE(world.RunFor(120, 10));
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(Reason(world, api::kMemoryFits), "");
}

}  // namespace
}  // namespace weft::life
