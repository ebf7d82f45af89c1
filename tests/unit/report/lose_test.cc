#include "operator/report/lose.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;

// A job that has nodes.
void HoldNodes(Scene& scene, const std::string& name, const std::vector<std::string>& nodes) {
  scene.Job(name, static_cast<std::uint32_t>(nodes.size()));
  scene.Placement(name + "-1", static_cast<std::uint32_t>(nodes.size()), nodes).meta.labels = {
      {"weft.dev/job-name", name}};
}

// Two leaves of three nodes.
testing::FabricShape TwoLeaves() { return testing::Leaves({{8, 8, 8}, {8, 8, 8}}); }

std::string Moves(const JobLoss& job) {
  std::string text;
  for (const JobLoss::Move& move : job.moves) {
    text += (text.empty() ? "" : ", ") + std::to_string(move.worker) + " " + move.from + " " +
            move.to + (move.healthy ? " (healthy)" : "");
  }
  return text;
}

TEST(Lose, ReplacesTheLostWorkerNearTheOthers) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0", "n1"});
  const auto report = Lose(scene.Build(), {"n1"}, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs.size(), 1U);
  EXPECT_EQ(report->jobs[0].outcome, LossOutcome::kReplaced);
  EXPECT_EQ(Moves(report->jobs[0]), "1 n1 n2");
  EXPECT_EQ(*report->jobs[0].cost_after, report->jobs[0].cost_before);
  const nlohmann::ordered_json json = LoseJson(*report);
  EXPECT_EQ(json["replacements"][0]["healthy"], false);
  EXPECT_EQ(json["jobs"][0]["outcome"], "Replaced");
  EXPECT_EQ(json["jobs"][0]["groupsMoved"], 0);
  EXPECT_EQ(json["spared"], 0);
}

TEST(Lose, EachJobGetsWhatEarlierOnesLeft) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0", "n1"});
  HoldNodes(scene, "b", {"n3", "n4"});
  const auto report = Lose(scene.Build(), {"n1", "n4", "n2"}, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs.size(), 2U);
  EXPECT_EQ(Moves(report->jobs[0]), "1 n1 n5");
  EXPECT_EQ(report->jobs[1].outcome, LossOutcome::kRefused);
  EXPECT_EQ(report->jobs[1].why_not_replaced, "No free node for worker 1.");
  EXPECT_FALSE(report->AllGoOn());
}

TEST(Lose, AJobThatMustStayInOneLeafIsPlacedAnew) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0", "n1", "n2"});
  scene.inputs.jobs.Edit(0).topology.required = "leaf";
  const auto report = Lose(scene.Build(), {"n1"}, {"a"});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs.size(), 1U);
  EXPECT_EQ(report->jobs[0].outcome, LossOutcome::kRecreated);
  EXPECT_EQ(report->jobs[0].why_not_replaced,
            "No free node for worker 1 in leaf l0, where the job's rules of topology keep it with "
            "the workers that stay.");
  const nlohmann::ordered_json json = LoseJson(*report);
  EXPECT_EQ(json["lost"], (std::vector<std::string>{"n1"}));
  EXPECT_EQ(json["replacements"].size(), 0U);
  EXPECT_EQ(json["recreated"], (std::vector<std::string>{"ns/a"}));
  EXPECT_EQ(json["refused"].size(), 0U);
}

TEST(Lose, NamesTheNodeThatWasMeant) {
  Scene scene(TwoLeaves());
  EXPECT_EQ(Lose(scene.Build(), {"n11"}, {}).error().message,
            "--lose: no Fabric has a node \"n11\"; did you mean \"n1\"?");
  EXPECT_EQ(Lose(scene.Build(), {"n1"}, {"x"}).error().message,
            "\"x\": no running TrainingJob or Placement has this name");
}

TEST(Lose, NamesTheNodeOfAJobThatMustStayOnOne) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0", "n1"});
  scene.inputs.jobs.Edit(0).topology.required = "node";  // set after it was placed
  const auto report = Lose(scene.Build(), {"n1"}, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs.size(), 1U);
  EXPECT_EQ(report->jobs[0].outcome, LossOutcome::kRefused);
  EXPECT_EQ(report->jobs[0].why_not_replaced,
            "No free node for worker 1 in node n0, where the job's rules of topology keep it with "
            "the workers that stay.");
}

TEST(Lose, AJobWithAnInvalidSpecIsAnEntryUnlessItComesFromAFile) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0"});
  HoldNodes(scene, "b", {"n1", "n2"});
  scene.inputs.jobs.Edit(0).topology.required = "row";
  const cluster::Cluster cluster = scene.Build();
  EXPECT_FALSE(Lose(cluster, {"n0", "n1"}, {}, cluster::Mark::kNo));
  const auto report = Lose(cluster, {"n0", "n1"}, {}, cluster::Mark::kInvalid);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs.size(), 2U);
  EXPECT_EQ(report->jobs[0].outcome, LossOutcome::kInvalid);
  EXPECT_NE(report->jobs[0].message.find("unknown level \"row\""), std::string::npos);
  EXPECT_EQ(report->jobs[1].outcome, LossOutcome::kReplaced);
  EXPECT_EQ(LoseJson(*report)["jobs"][0]["outcome"], "Invalid");
}

TEST(Lose, NamesWhoElseLosesANode) {
  Scene scene(TwoLeaves());
  HoldNodes(scene, "a", {"n0"});
  HoldNodes(scene, "b", {"n1"});
  HoldNodes(scene, "c", {"n2"});
  scene.Pod("batch", "n3");
  const cluster::Cluster cluster = scene.Build();
  const auto all = Lose(cluster, {"n0", "n3"}, {});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->others.size(), 1U);
  EXPECT_EQ(all->others[0].kind, "Pod");
  EXPECT_EQ(all->others[0].name, "ns/batch");
  EXPECT_EQ(all->spared, (std::vector<std::string>{"ns/b", "ns/c"}));
  auto one = Lose(cluster, {"n0", "n3"}, {"b"});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(one->jobs.empty());
  EXPECT_EQ(one->left_out, 2U);
  auto space = Lose(cluster, {"n0", "n3"}, {});
  space->KeepSpace("other");
  EXPECT_TRUE(space->jobs.empty());
  EXPECT_TRUE(space->spared.empty());
  EXPECT_EQ(space->left_out, 2U);
}

}  // namespace
}  // namespace weft::report
