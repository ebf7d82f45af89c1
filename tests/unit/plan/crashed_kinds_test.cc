#include "operator/plan/crashed_kinds.h"

#include <gtest/gtest.h>

#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;

// Jobs that a CronJob makes: each with another name and uid, and the same spec.
class CrashedKindsTest : public ::testing::Test {
 protected:
  api::TrainingJob& Job(testing::Scene& scene, const std::string& name,
                        bool crashed = false) const {
    api::TrainingJob& job = scene.Job(name, 1);
    job.meta.uid = name;
    for (int i = 0; crashed && i < 2; ++i) RecordCrash(job.conditions, 0, {"0.1.0", 11}, now_);
    return job;
  }
  // The reasons of refusals, "placed" for the others.
  std::vector<std::string> Outcomes(const testing::Scene& scene) {
    const cluster::Cluster cluster = scene.Build();
    PlanOptions options;
    options.crashes = {.version = "0.1.0", .now = now_};
    options.crashed_kinds = &kinds_;
    const auto report = Plan(cluster, options);
    std::vector<std::string> outcomes;
    for (const PlanEntry& entry : report->entries) {
      const Refused* refused = entry.refused();
      outcomes.push_back(refused == nullptr ? "placed" : refused->reason);
      if (refused != nullptr) message_ = refused->message;
    }
    return outcomes;
  }
  using Names = std::vector<std::string>;

  UnixSeconds now_ = kNow;
  CrashedKinds kinds_;
  std::string message_;
};

TEST_F(CrashedKindsTest, RefuseWhatAsksForTheSameInTheSameNamespace) {
  testing::Scene scene(testing::FourNodes());
  Job(scene, "like");  // whichever comes first
  Job(scene, "first", true);
  Job(scene, "wider").replicas = 2;
  Job(scene, "next");
  Job(scene, "tolerant").pod.tolerations = {{"a", "Exists", "", ""}};
  Job(scene, "away").meta.key.space = "team-b";
  EXPECT_EQ(Outcomes(scene),
            (Names{"SolverFailed", "SolverFailed", "placed", "SolverFailed", "placed", "placed"}));
}

// A job that asks before the refused one does, as after a change of leaders.
TEST_F(CrashedKindsTest, AreLearnedFromJobsThatDoNotAskYet) {
  testing::Scene scene(testing::FourNodes());
  Job(scene, "first", true);
  scene.inputs.order.clear();
  Job(scene, "like");
  EXPECT_EQ(Outcomes(scene), Names{"SolverFailed"});
}

TEST_F(CrashedKindsTest, AreRememberedForAnHourAfterTheObjectIsGone) {
  {
    testing::Scene scene(testing::FourNodes());
    Job(scene, "first", true);
    EXPECT_EQ(Outcomes(scene), Names{"SolverFailed"});
  }
  testing::Scene scene(testing::FourNodes());
  Job(scene, "next");
  now_ += CrashedKinds::kKeepSeconds - 1;
  EXPECT_EQ(Outcomes(scene), Names{"SolverFailed"});
  EXPECT_NE(message_.find("TrainingJob ns/first"), std::string::npos) << message_;
  ++now_;
  EXPECT_EQ(Outcomes(scene), Names{"placed"});
}

// Its own changed spec is tried again; what gets nodes then is no cause for refusals.
TEST_F(CrashedKindsTest, DoNotRefuseTheObjectItselfAndEndWithNodes) {
  {
    testing::Scene scene(testing::FourNodes());
    Job(scene, "first", true);
    Outcomes(scene);
    EXPECT_EQ(kinds_.size(), 1U);
  }
  testing::Scene scene(testing::FourNodes());
  Job(scene, "first", true).meta.generation = 1;
  Job(scene, "next");
  EXPECT_EQ(Outcomes(scene), (Names{"placed", "placed"}));
  EXPECT_EQ(kinds_.size(), 0U);
}

TEST_F(CrashedKindsTest, AreFew) {
  testing::Scene scene(testing::FourNodes());
  for (std::size_t i = 0; i < CrashedKinds::kMost + 2; ++i) {
    Job(scene, "job-" + std::to_string(i), true);
  }
  Outcomes(scene);
  EXPECT_EQ(kinds_.size(), CrashedKinds::kMost);
}

}  // namespace
}  // namespace weft::plan
