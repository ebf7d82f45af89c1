#include "operator/life/restart.h"

#include <gtest/gtest.h>

#include <tuple>

#include "operator/api/names.h"
#include "operator/life/blame.h"
#include "operator/life/exclusion.h"
#include "operator/life/job_status.h"
#include "operator/life/machine.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

JobWorld Gang(std::int64_t max_restarts, std::uint32_t workers = 4) {
  JobWorld world(workers);
  world.job.failure_policy.max_restarts = max_restarts;
  EXPECT_TRUE(world.Settle());
  return world;
}

void End(JobWorld& world, std::size_t worker, std::int64_t code,
         const std::string& container = "trainer", const std::string& reason = "Error") {
  api::Pod& pod = *world.pods[worker];
  pod.phase = api::PodPhase::kFailed;
  pod.ready = false;
  pod.failure = api::Pod::Failure{container, reason, code, "", world.now};
  pod.failure->init = container.find("preflight") != container.npos;
  pod.exits = {{container, code}};
}

api::FailureRule ExitRule(api::FailureAction action, std::vector<std::int64_t> codes,
                          bool in = true, const std::string& container = "") {
  api::FailureRule rule;
  rule.action = action;
  rule.exit_codes = api::FailureRule::ExitCodes{container, in, std::move(codes)};
  return rule;
}

std::string Message(const JobWorld& world, const char* type) {
  const JobStatus status = world.status();
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? "" : condition->message;
}

std::string CauseOf(const JobWorld& world) { return world.status().record.last_failure->cause; }

// -- rules of failurePolicy

TEST(RestartTest, ARuleFailsTheJobThoughRestartsAreLeft) {
  JobWorld world = Gang(9);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kFailJob, {93}, true, "trainer")};
  End(world, 1, 93);
  world.Settle();
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "PodFailurePolicy");
  EXPECT_EQ(Message(world, "Failed"),
            "worker 1 on n1: container trainer ended with exit code 93 (Error); "
            "failurePolicy.rules[0] (FailJob) matches exit code 93 of container trainer");
  EXPECT_EQ(CauseOf(world), "ProgramFailed");
}

TEST(RestartTest, AnExitCodeThatIsListedCountsWhoeverFailedFirst) {
  JobWorld world = Gang(9);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kFailJob, {93})};
  End(world, 0, 1);
  world.now += 1;
  End(world, 3, 93);
  world.Settle();
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "PodFailurePolicy");
  EXPECT_EQ(world.status().record.last_failure->worker, 3);
}

TEST(RestartTest, OtherExitCodesAreLookedForOnlyWhereTheFailureBegan) {
  JobWorld world = Gang(9);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kFailJob, {1}, false)};
  End(world, 0, 1);
  world.now += 1;
  End(world, 3, 134);  // dies of it
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  EXPECT_EQ(world.status().record.restarts, 1);
}

TEST(RestartTest, AContainerOfAnotherNameMatchesNoRule) {
  JobWorld world = Gang(9);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kFailJob, {93}, true, "logs")};
  End(world, 1, 93);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
}

TEST(RestartTest, TheFirstRuleThatMatchesDecides) {
  JobWorld world = Gang(0);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kIgnore, {7}),
                                    ExitRule(api::FailureAction::kFailJob, {7})};
  End(world, 1, 7);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_FALSE(world.status().record.last_failure->counted);
}

TEST(RestartTest, AReplacedNodeIsLeftOutAndItsRestartIsNotCounted) {
  JobWorld world = Gang(0);
  world.job.failure_policy.rules = {ExitRule(api::FailureAction::kReplaceNode, {98})};
  End(world, 2, 98);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now), std::vector<std::string>{"n2"});
}

TEST(RestartTest, ARuleOnAConditionDecidesAboutADisruption) {
  for (const auto action : {api::FailureAction::kRestart, api::FailureAction::kFailJob}) {
    JobWorld world = Gang(9);
    api::FailureRule rule;
    rule.action = action;
    rule.pod_conditions = {{"DisruptionTarget", "True"}};
    world.job.failure_policy.rules = {rule};
    End(world, 1, 143);
    world.pods[1]->disrupted = true;
    world.pods[1]->conditions = {{"DisruptionTarget", "True", "PreemptionByScheduler"}};
    world.Settle();
    EXPECT_EQ(Is(world.status(), "Failed"), action == api::FailureAction::kFailJob);
    EXPECT_EQ(world.status().record.restarts, action == api::FailureAction::kRestart ? 1 : 0);
  }
}

// -- causes

TEST(RestartTest, ADisruptionHasTheCauseOfItsReason) {
  for (const auto& [reason, cause] : {std::pair{"DeletionByTaintManager", "NodeLost"},
                                      {"PreemptionByScheduler", "Disrupted"},
                                      {"EvictionByEvictionAPI", "Disrupted"}}) {
    JobWorld world = Gang(0);
    End(world, 1, 143);
    world.pods[1]->disrupted = true;
    world.pods[1]->conditions = {{"DisruptionTarget", "True", reason}};
    world.Settle();
    EXPECT_EQ(CauseOf(world), cause) << reason;
    EXPECT_FALSE(Is(world.status(), "Failed"));
  }
}

TEST(RestartTest, ANodeThatFailsItsPreflightIsLeftOut) {
  for (const char* container : {"weft-preflight", "preflight-dcgm-diag"}) {
    JobWorld world = Gang(0);
    End(world, 1, 1, container);
    world.Settle();
    EXPECT_EQ(CauseOf(world), "NodeUnfit");
    EXPECT_EQ(world.status().record.restarts, 0);
    EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now),
              std::vector<std::string>{"n1"});
  }
}

TEST(RestartTest, AMissingCommandIsNotTriedAThirdTime) {
  JobWorld world = Gang(9);
  End(world, 1, 127);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  world.now += 600;
  ASSERT_TRUE(world.Settle());
  End(world, 2, 127);
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Failed"));
  EXPECT_TRUE(Message(world, "Failed")
                  .ends_with("the attempt before failed for the same reason, "
                             "so the job is not tried again"))
      << Message(world, "Failed");
}

// -- a node that fails about when a program does

TEST(RestartTest, PeersOfALostNodeAreNotToBlame) {
  JobWorld world = Gang(0);
  for (const std::size_t peer : {0U, 1U, 3U}) End(world, peer, 1);
  EXPECT_EQ(world.Settle()->seconds, 75);  // worker 2 has not ended
  EXPECT_FALSE(Is(world.status(), "Failed"));
  EXPECT_NE(Message(world, "PodsReady").find("the job fails at"), std::string::npos);
  world.now += 50;
  world.nodes["n2"].not_ready_since = world.now;
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Restarting"));
  EXPECT_EQ(CauseOf(world), "NodeLost");
  EXPECT_EQ(world.status().record.last_failure->worker, 2);
  EXPECT_EQ(world.status().record.last_failure->node, "n2");
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_TRUE(Message(world, "Restarting").starts_with("node n2 of worker 2 is lost since "))
      << Message(world, "Restarting");
}

TEST(RestartTest, WithoutNewsOfItsNodesTheJobFails) {
  JobWorld world = Gang(0);
  End(world, 0, 1);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  world.now += 74;
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  world.now += 1;
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Failed"));
  EXPECT_EQ(CauseOf(world), "ProgramFailed");
  EXPECT_EQ(world.status().record.restarts, 0);
}

TEST(RestartTest, NothingIsWaitedForWhereTheFailureSpeaksForItself) {
  for (const auto& [reason, code] :
       {std::pair{"OOMKilled", 137}, {"Error", 127}, {"StartError", 128}}) {
    JobWorld world = Gang(0);
    End(world, 0, code, "trainer", reason);
    world.Settle();
    EXPECT_TRUE(Is(world.status(), "Failed")) << reason;
  }
  JobWorld all = Gang(0);
  for (std::size_t worker = 0; worker < 4; ++worker) End(all, worker, 1);
  all.Settle();
  EXPECT_TRUE(Is(all.status(), "Failed"));
}

TEST(RestartTest, ARestartThatWasCountedIsGivenBackWhenANodeIsToBlame) {
  JobWorld world = Gang(5);
  world.nodes["n2"];  // no kubelet confirms the end of its pod
  End(world, 0, 1);
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Restarting"));
  EXPECT_EQ(world.status().record.restarts, 1);
  world.now += 45;
  world.nodes["n2"].not_ready_since = world.now;
  world.Settle();
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_EQ(CauseOf(world), "NodeLost");
  EXPECT_FALSE(world.status().record.last_failure->counted);
  EXPECT_EQ(ReasonOf(world.status(), "Restarting"), "NodeLost");
}

TEST(RestartTest, ANodeThatIsLostLongAfterIsAnotherFailure) {
  JobWorld world = Gang(5);
  world.nodes["n2"];
  End(world, 0, 1);
  world.Settle();
  world.now += world.options.node_news_seconds + 1;
  world.nodes["n2"].not_ready_since = world.now;
  world.Settle();
  EXPECT_EQ(world.status().record.restarts, 1);
  EXPECT_EQ(CauseOf(world), "ProgramFailed");
}

TEST(RestartTest, AFatalConditionOfANodeExplainsTheProgramsEnd) {
  for (const auto& [seconds, blamed] : {std::pair{-121, false}, {-120, true}, {0, true}}) {
    JobWorld world = Gang(5);
    world.nodes["n3"].faults = {{"SysLogsGPUFallenOff=True", world.now + seconds}};
    End(world, 3, 1);
    world.Settle();
    EXPECT_EQ(CauseOf(world), blamed ? "NodeFault" : "ProgramFailed") << seconds;
    EXPECT_EQ(world.status().record.restarts, blamed ? 0 : 1);
    if (!blamed) continue;
    EXPECT_EQ(world.status().record.last_failure->reason, "SysLogsGPUFallenOff");
    EXPECT_TRUE(Message(world, "Restarting")
                    .starts_with("node n3 of worker 3 has the condition SysLogsGPUFallenOff=True "
                                 "since "));
  }
}

TEST(RestartTest, ASecondFatalConditionInARowIsTheProgramsDoing) {
  JobWorld world = Gang(5);
  for (const char* node : {"n1", "n2"}) {
    world.nodes[node].faults = {{"XIDErrors=True", world.now}};
    ASSERT_EQ(world.pods.size(), 4U) << Message(world, "Placed");
    End(world, 1, 1);
    world.Settle();
    world.now += 30;
    ASSERT_TRUE(world.Settle());
  }
  EXPECT_EQ(CauseOf(world), "ProgramFailed");
  EXPECT_EQ(world.status().record.restarts, 1);
}

TEST(RestartTest, WhatSpeaksForItselfCountsThoughANodeIsLost) {
  JobWorld world = Gang(5);
  End(world, 0, 137, "trainer", "OOMKilled");
  world.nodes["n2"].not_ready_since = world.now;
  world.Settle();
  EXPECT_EQ(CauseOf(world), "ProgramFailed");
  EXPECT_EQ(world.status().record.restarts, 1);
}

TEST(RestartTest, WhatHappensToPodsWhileAJobWaitsChangesNothing) {
  JobWorld world = Gang(0);
  End(world, 0, 1);
  world.Settle();
  EXPECT_EQ(CauseOf(world), "ProgramFailed");  // is told at once
  world.pods.erase(world.pods.begin());
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Failed"));
  EXPECT_EQ(CauseOf(world), "ProgramFailed");

  JobWorld evicted = Gang(0);
  End(evicted, 0, 1);
  evicted.Settle();
  evicted.pods[2]->meta.deleting = true;
  evicted.pods[2]->disrupted = true;
  evicted.now += 75;
  evicted.Settle();
  EXPECT_TRUE(Is(evicted.status(), "Failed"));
  EXPECT_EQ(CauseOf(evicted), "ProgramFailed");
}

TEST(RestartTest, NobodyWaitsWhereALostNodeWouldEndTheJobToo) {
  for (const char* policy : {"Fail", "RestartCounted"}) {
    JobWorld world = Gang(0);
    world.job.failure_policy.infrastructure = policy;
    End(world, 0, 1);
    world.Settle();
    EXPECT_TRUE(Is(world.status(), "Failed")) << policy;
  }
}

TEST(RestartTest, AMonitorOfGpusIsWaitedForThoughAllHaveEnded) {
  JobWorld world = Gang(0);
  world.nodes["n0"].monitored = true;
  for (std::size_t worker = 0; worker < 4; ++worker) End(world, worker, 1);
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  world.now += 25;
  world.nodes["n0"].faults = {{"SysLogsGPUFallenOff=True", world.now}};
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Failed"));
  EXPECT_EQ(CauseOf(world), "NodeFault");
  EXPECT_EQ(world.status().record.restarts, 0);
}

TEST(RestartTest, ANodeThatIsGoneIsToBlame) {
  JobWorld world = Gang(5);
  End(world, 0, 1);
  world.nodes["n2"];
  world.Settle();
  EXPECT_EQ(world.status().record.restarts, 1);
  world.now += 20;
  world.nodes["n2"].exists = false;
  world.Settle();
  EXPECT_EQ(world.status().record.restarts, 0);
}

TEST(RestartTest, APodOfAnEarlierMachineOfThatNameIsLost) {
  JobWorld world = Gang(0);
  world.pods[2]->bound = world.now;
  life::NodeState& node = world.nodes["n2"];
  node.made = world.now + kClockSkewSeconds;  // as clocks may differ
  world.now += 100;
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Restarting"));
  ++node.made;
  world.Settle();
  EXPECT_EQ(CauseOf(world), "NodeLost");
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_TRUE(Message(world, "Restarting").starts_with("node n2 of worker 2 was made again at "))
      << Message(world, "Restarting");
}

TEST(RestartTest, APodOfAnEarlierMachineIsLostHoweverSoonTheNodeWasMadeAgainAndByWhicheverClock) {
  const UnixSeconds before = JobWorld(4).now - 9'000;  // when the node was made first
  struct Case {
    const char* name;
    std::int64_t made;  // seconds after the bind, by the clock of the API server
    bool lost = true;
  };
  for (const auto& [name, made, lost] :
       std::initializer_list<Case>{{"5 s after the bind", 5},
                                   {"2 min after the bind, by a clock 3 min behind", 120 - 180},
                                   {"10 min after the bind", 600},
                                   {"at the moment of the bind", 0},
                                   {"never", -9'000, false}}) {
    SCOPED_TRACE(name);
    JobWorld world = Gang(0);
    world.pods[2]->bound = world.now;
    world.pods[2]->meta.annotations.Set(kNodeCreatedAnnotation, FormatTime(before));
    world.nodes["n2"].made = world.now + made;
    world.now += 700;
    world.Settle();
    ASSERT_EQ(world.status().record.last_failure.has_value(), lost);
    if (lost) {
      EXPECT_EQ(CauseOf(world), "NodeLost");
    }
    EXPECT_EQ(world.status().record.restarts, 0);
  }
}

TEST(RestartTest, ARebootedNodeTellsByTheContainersThatAreGone) {
  JobWorld world = Gang(5);
  world.pods[2]->bound = world.now;
  world.nodes["n2"].made = world.now - 9'000;
  world.pods[2]->meta.annotations.Set(kNodeCreatedAnnotation, FormatTime(world.now - 9'000));
  world.now += 100;
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Restarting"));
  End(world, 2, 137, "trainer", "ContainerStatusUnknown");
  world.Settle();
  EXPECT_EQ(CauseOf(world), "NodeLost");
  EXPECT_EQ(world.status().record.restarts, 0);
}

TEST(RestartTest, AContainerThatIsGoneWasItsNodes) {
  for (const auto& [reason, code, lost] : {std::tuple{"ContainerStatusUnknown", 137, true},
                                           {"Unknown", 255, true},
                                           {"Unknown", 1, false},
                                           {"Error", 255, false}}) {
    JobWorld world = Gang(5);
    End(world, 0, 1);  // a peer, a moment before
    ++world.now;
    End(world, 2, code, "trainer", reason);
    world.Settle();
    EXPECT_EQ(CauseOf(world), lost ? "NodeLost" : "ProgramFailed") << reason << code;
    EXPECT_EQ(world.status().record.restarts, lost ? 0 : 1) << reason << code;
  }
}

TEST(RestartTest, ABoundGangRunsOnWithoutItsPlacement) {
  JobWorld world(3);
  world.Settle();
  ASSERT_EQ(PhaseOf(world.status()), "Running");
  world.placements.clear();
  ASSERT_TRUE(world.RunFor(3'600, 60));
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.status().attempt, 1);
}

}  // namespace
}  // namespace weft::life
