#include "operator/decide/solver_crash.h"

#include <gtest/gtest.h>

#include "operator/api/kueue.h"
#include "operator/decide/conditions.h"
#include "operator/decide/plan.h"
#include "operator/decide/queued.h"
#include "tests/unit/decide/scene.h"

namespace weft::decide {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;
const SolverCrash kFault{"0.1.0", 11};

TEST(SolverCrashTest, IsRefusedFromTheSecondOfOneGenerationAndVersionOn) {
  struct Crash {
    std::int64_t generation;
    SolverCrash crash;
    bool refused;
  };
  const Crash crashes[] = {
      {3, {"0.1.0", 11}, false}, {4, {"0.1.0", 11}, false}, {4, {"0.2.0", 6}, false},
      {4, {"0.2.0", 11}, true},  {4, {"0.2.0", 11}, true},  {5, {"0.2.0", 11}, false},
  };
  std::vector<api::Condition> conditions = {{"Placed", "False", "HeldBack", "waits", ""}};
  for (const Crash& one : crashes) {
    RecordCrash(conditions, one.generation, one.crash, kNow);
    const auto refusal = CrashRefusal(conditions, one.generation, one.crash.version);
    EXPECT_EQ(refusal.has_value(), one.refused) << conditions.back().message;
  }
  EXPECT_EQ(conditions.size(), 2U);
  EXPECT_EQ(conditions.front().reason, "HeldBack");
}

TEST(SolverCrashTest, ARefusalBetweenTwoCrashesDoesNotHideTheFirst) {
  std::vector<api::Condition> conditions;
  RecordCrash(conditions, 1, kFault, kNow);
  PutCondition(conditions, {"Placed", "False", "InsufficientCapacity", "no room", ""}, kNow);
  RecordCrash(conditions, 1, kFault, kNow);
  EXPECT_TRUE(CrashRefusal(conditions, 1, "0.1.0"));
}

TEST(SolverCrashTest, ARefusalCountsForItsGenerationAndVersion) {
  std::vector<api::Condition> conditions;
  RecordCrash(conditions, 1, kFault, kNow);
  RecordCrash(conditions, 1, kFault, kNow);
  EXPECT_EQ(CrashRefusal(conditions, 1, "0.1.0"), conditions[0].message);
  EXPECT_EQ(CrashRefusal(conditions, 1, ""), conditions[0].message);
  EXPECT_FALSE(CrashRefusal(conditions, 1, "0.1.0-rc1"));
  EXPECT_FALSE(CrashRefusal(conditions, 2, "0.1.0"));
}

TEST(SolverCrashTest, SaysWhatHappenedAndWhatComesNext) {
  EXPECT_EQ(CrashText(kFault, false),
            "weft-operator 0.1.0 crashed with signal 11 while it chose the nodes; it tries once "
            "more");
  EXPECT_EQ(CrashText(kFault, true),
            "weft-operator 0.1.0 crashed twice, the last time with signal 11, while it chose the "
            "nodes. It tries again when the spec changes (suspending and resuming a TrainingJob is "
            "such a change), or when another version of weft-operator leads");
}

TEST(SolverCrashTest, IsReadFromTheEndOfALongerText) {
  for (const bool again : {false, true}) {
    const std::string sentence = CrashText(kFault, again);
    const auto record = ReadCrash("weft-operator waits; " + sentence);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->version, "0.1.0");
    EXPECT_EQ(record->again, again);
    EXPECT_EQ(record->sentence, sentence);
  }
  const auto last = ReadCrash(CrashText(kFault, false) + "; " + CrashText(kFault, true));
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->again);
  EXPECT_EQ(last->sentence, CrashText(kFault, true));
  EXPECT_FALSE(ReadCrash("no room"));
  EXPECT_FALSE(ReadCrash("the program crashed with signal 11 while it ran"));
  EXPECT_FALSE(ReadCrash("weft-operator of old crashed with signal 11"));
}

// Deciding it again would end the process, so nothing but the status may be looked at.
TEST(SolverCrashTest, PlanRefusesTheWorkloadAndPlacesTheOthers) {
  Scene scene(FourNodes());
  scene.Job("before", 1);
  api::TrainingJob& poison = scene.Job("poison", 1);
  poison.meta.generation = 2;
  poison.fabric_name = "unknown";  // which would be another refusal
  for (int i = 0; i < 2; ++i) RecordCrash(poison.conditions, 2, kFault, kNow);
  scene.Job("after", 1);
  const Cluster cluster = scene.Build();
  PlanOptions options;
  options.refuse_invalid = true;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->entries[0].placed());
  EXPECT_TRUE(report->entries[2].placed());
  const Refused* refused = report->entries[1].refused();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->reason, kSolverFailed);
  EXPECT_EQ(refused->message, CrashText(kFault, true));
  EXPECT_TRUE(NeverFits(*refused));
}

TEST(SolverCrashTest, PlanNamesEachWorkloadWhileItIsDecided) {
  Scene scene(FourNodes());
  scene.Job("one", 1);
  scene.Placement("two", 1);
  const Cluster cluster = scene.Build();
  std::vector<std::string> named;
  PlanOptions options;
  options.deciding = [&](const Workload* one) { named.push_back(one ? one->key().name : ""); };
  ASSERT_TRUE(Plan(cluster, options));
  EXPECT_EQ(named, (std::vector<std::string>{"one", "two", ""}));
}

TEST(SolverCrashTest, IsRecordedInTheObjectThatAsked) {
  Scene scene(FourNodes());
  scene.Job("job", 1).meta.uid = "j";
  scene.Placement("mine", 1).meta.uid = "p";
  scene.Placement("queued", 1).meta.owners = {
      {"kueue.x-k8s.io/v1beta2", "Workload", "job-llama", "w", true}};
  const Cluster cluster = scene.Build();
  const auto workloads = PendingWorkloads(cluster, Order::kFile);
  ASSERT_TRUE(workloads);
  std::vector<std::string> subjects;
  for (const Workload& one : *workloads) {
    const CrashSubject subject = SubjectOf(one);
    subjects.push_back(std::string(subject.kind) + " " + api::Show(subject.key) + " " +
                       subject.uid);
  }
  EXPECT_EQ(subjects, (std::vector<std::string>{"TrainingJob ns/job j", "Placement ns/mine p",
                                                "Workload ns/job-llama w"}));
}

}  // namespace
}  // namespace weft::decide
