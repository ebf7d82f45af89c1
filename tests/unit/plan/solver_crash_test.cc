#include "operator/plan/solver_crash.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/api/conditions.h"
#include "operator/api/kueue.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_report.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;
const SolverCrash kFault{"0.1.0", 11};

std::optional<Refusal> FindRefusal(const std::vector<api::Condition>& conditions,
                                   std::int64_t generation, const std::string& version = "0.1.0") {
  return RefusalFor(conditions, generation, {.version = version});
}

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
    const auto refusal = FindRefusal(conditions, one.generation, one.crash.version);
    EXPECT_EQ(refusal.has_value(), one.refused) << conditions.back().message;
  }
  EXPECT_EQ(conditions.size(), 2U);
  EXPECT_EQ(conditions.front().reason, "HeldBack");
}

TEST(SolverCrashTest, ARefusalBetweenTwoCrashesDoesNotHideTheFirst) {
  std::vector<api::Condition> conditions;
  RecordCrash(conditions, 1, kFault, kNow);
  api::PutCondition(conditions, {"Placed", "False", "InsufficientCapacity", "no room", ""}, kNow);
  RecordCrash(conditions, 1, kFault, kNow);
  EXPECT_TRUE(FindRefusal(conditions, 1));
}

TEST(SolverCrashTest, ARefusalCountsForItsGenerationAndVersion) {
  std::vector<api::Condition> conditions;
  RecordCrash(conditions, 1, kFault, kNow);
  EXPECT_FALSE(FindRefusal(conditions, 1));
  EXPECT_TRUE(RefusalFor(conditions, 1, {.wary = true}));
  RecordCrash(conditions, 1, kFault, kNow);
  ASSERT_TRUE(FindRefusal(conditions, 1));
  EXPECT_EQ(FindRefusal(conditions, 1)->message, conditions[0].message);
  EXPECT_EQ(FindRefusal(conditions, 1)->reason, api::kSolverFailed);
  EXPECT_FALSE(FindRefusal(conditions, 1)->ends_in_seconds);
  EXPECT_TRUE(FindRefusal(conditions, 1, ""));
  EXPECT_FALSE(FindRefusal(conditions, 1, "0.1.0-rc1"));
  EXPECT_FALSE(FindRefusal(conditions, 2));
}

// A spec that changes all the time: each generation crashes once.
TEST(SolverCrashTest, AChangedSpecIsTriedAgainLaterAndLater) {
  std::vector<api::Condition> conditions;
  std::vector<std::int64_t> pauses;
  UnixSeconds now = kNow;
  for (std::int64_t generation = 1; generation < 11; ++generation) {
    RecordCrash(conditions, generation, kFault, now);
    const auto refusal = RefusalFor(conditions, generation + 1, {.version = "0.1.0", .now = now});
    pauses.push_back(refusal ? *refusal->ends_in_seconds : 0);
    EXPECT_EQ(refusal ? refusal->reason : kSolverCrashed, kSolverCrashed);
    now += pauses.back();
    EXPECT_FALSE(RefusalFor(conditions, generation + 1, {.version = "0.1.0", .now = now}));
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{0, 0, 60, 120, 240, 480, 960, 1920, 3600, 3600}));
  EXPECT_FALSE(RefusalFor(conditions, 11, {.version = "0.2.0", .now = now - 1}));
  // A clock that went back does not make it longer.
  EXPECT_EQ(RefusalFor(conditions, 11, {.now = kNow - 86'400})->ends_in_seconds, 3600);
  RecordCrash(conditions, 11, {"0.2.0", 11}, now);
  EXPECT_FALSE(RefusalFor(conditions, 12, {.version = "0.2.0", .now = now}));
}

TEST(SolverCrashTest, SaysWhatHappenedAndWhatComesNext) {
  EXPECT_EQ(CrashText(kFault, {false, 1, kNow}),
            "weft-operator 0.1.0 crashed with signal 11 while it chose the nodes (crash 1 of this "
            "object, at 2027-01-15T08:00:00Z); it tries once more");
  EXPECT_EQ(CrashText(kFault, {false, 3, kNow}),
            "weft-operator 0.1.0 crashed with signal 11 while it chose the nodes (crash 3 of this "
            "object, at 2027-01-15T08:00:00Z); it tries once more, not before "
            "2027-01-15T08:01:00Z");
  EXPECT_EQ(CrashText(kFault, {true, 4, kNow}),
            "weft-operator 0.1.0 crashed twice, the last time with signal 11, while it chose the "
            "nodes (crash 4 of this object, at 2027-01-15T08:00:00Z). It tries again when the spec "
            "changes (suspending and resuming a TrainingJob is such a change), not before "
            "2027-01-15T08:02:00Z, or when another version of weft-operator leads");
  EXPECT_EQ(CrashText({"0.1.0", 6, Solving::kFigures}, {}),
            "weft-operator 0.1.0 crashed with signal 6 while it computed figures of this object; "
            "it leaves them out until the spec changes or another version of weft-operator leads");
}

TEST(SolverCrashTest, IsReadFromTheEndOfALongerText) {
  for (const bool again : {false, true}) {
    const std::string sentence = CrashText(kFault, {again, 7, kNow});
    const auto record = ReadCrash("weft-operator waits; " + sentence);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->version, "0.1.0");
    EXPECT_EQ(record->solving, Solving::kNodes);
    EXPECT_EQ(record->count.again, again);
    EXPECT_EQ(record->count.crashes, 7);
    EXPECT_EQ(record->count.last, kNow);
    EXPECT_EQ(record->sentence, sentence);
  }
  const std::string twice = CrashText(kFault, {true, 2, kNow});
  const auto last = ReadCrash(CrashText(kFault, {false, 1, kNow}) + "; " + twice);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->count.again);
  EXPECT_EQ(last->sentence, twice);
  EXPECT_EQ(ReadCrash(CrashText({"0.1.0", 6, Solving::kFigures}, {}))->solving, Solving::kFigures);
  EXPECT_FALSE(ReadCrash("no room"));
  EXPECT_FALSE(ReadCrash("the program crashed with signal 11 while it ran"));
  EXPECT_FALSE(ReadCrash("weft-operator of old crashed with signal 11"));
  const auto odd =
      ReadCrash("weft-operator 0.1.0 crashed with signal 11 (crash x of this object, at ");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->count.crashes, 1);
  EXPECT_EQ(odd->count.last, 0);
}

TEST(SolverCrashTest, ACrashOnFiguresRefusesNothingAndLeavesThemOut) {
  testing::Scene scene(testing::FourNodes());
  api::TrainingJob& job = scene.Job("job", 1);
  RecordCrash(job.conditions, 0, {"0.1.0", 11, Solving::kFigures}, kNow);
  EXPECT_FALSE(RefusalFor(job.conditions, 0, {.now = kNow, .wary = true}));
  const cluster::Cluster cluster = scene.Build();
  for (const std::string version : {"0.1.0", "0.2.0"}) {
    std::vector<Solving> named;
    PlanOptions options;
    options.crashes.version = version;
    options.deciding = [&](const cluster::WorkloadView* one, Solving solving) {
      if (one != nullptr) named.push_back(solving);
    };
    const auto report = Plan(cluster, options);
    ASSERT_TRUE(report);
    ASSERT_TRUE(report->entries[0].placed());
    EXPECT_EQ(report->entries[0].placed()->best.has_value(), version == "0.2.0");
    const bool without = std::find(named.begin(), named.end(), Solving::kFigures) == named.end();
    EXPECT_EQ(without, version == "0.1.0");
  }
}

// Deciding it again would end the process, so nothing but the status may be looked at.
TEST(SolverCrashTest, PlanRefusesTheWorkloadAndPlacesTheOthers) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("before", 1);
  api::TrainingJob& poison = scene.Job("poison", 1);
  poison.meta.generation = 2;
  poison.fabric_name = "unknown";  // which would be another refusal
  for (int i = 0; i < 2; ++i) RecordCrash(poison.conditions, 2, kFault, kNow);
  scene.Job("after", 1);
  const cluster::Cluster cluster = scene.Build();
  PlanOptions options;
  options.refuse_invalid = true;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->entries[0].placed());
  EXPECT_TRUE(report->entries[2].placed());
  const Refused* refused = report->entries[1].refused();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->reason, api::kSolverFailed);
  EXPECT_EQ(refused->message, CrashText(kFault, {true, 2, kNow}));
  EXPECT_TRUE(NeverFits(*refused));
}

TEST(SolverCrashTest, PlanNamesEachWorkloadAndWhatTheSolverWorksOn) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("one", 1);
  scene.Placement("two", 1);
  const cluster::Cluster cluster = scene.Build();
  std::vector<std::string> named;
  PlanOptions options;
  options.deciding = [&](const cluster::WorkloadView* one, Solving solving) {
    named.push_back((one ? one->key().name : "") +
                    (solving == Solving::kFigures ? " figures" : ""));
  };
  ASSERT_TRUE(Plan(cluster, options));
  EXPECT_EQ(named, (std::vector<std::string>{"one", "one figures", "one", "two", "two figures",
                                             "two", ""}));
}

TEST(SolverCrashTest, IsRecordedInTheObjectThatAsked) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("job", 1).meta.uid = "j";
  scene.Placement("mine", 1).meta.uid = "p";
  for (const char* uid : {"", "q"}) {
    api::Placement& queued = scene.Placement("queued" + std::string(uid), 1);
    queued.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "job-llama", "w", true}};
    queued.meta.uid = uid;
  }
  const cluster::Cluster cluster = scene.Build();
  const auto workloads = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
  ASSERT_TRUE(workloads);
  std::vector<std::string> subjects;
  for (const Solving solving : {Solving::kNodes, Solving::kFigures}) {
    for (const cluster::WorkloadView& one : *workloads) {
      const CrashSubject subject = SubjectOf(one, solving);
      subjects.push_back(std::string(subject.kind) + " " + api::Show(subject.key) + " " +
                         subject.uid);
    }
  }
  EXPECT_EQ(subjects, (std::vector<std::string>{
                          "TrainingJob ns/job j", "Placement ns/mine p", "Workload ns/job-llama w",
                          "Workload ns/job-llama w", "TrainingJob ns/job j", "Placement ns/mine p",
                          "Workload ns/job-llama w", "Placement ns/queuedq q"}));
}

}  // namespace
}  // namespace weft::plan
