#include <gtest/gtest.h>

#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"
#include "tests/support/nodes_of.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

constexpr fabric::Tier kSpine{1}, kLeaf{2}, kNode{3};

Result<Problem> ProblemOf(const testing::Scene& scene) {
  const Cluster cluster = scene.Build();
  return MakeProblem(cluster.fabrics[0], PendingWorkloads(cluster, Order::kFile)->front());
}

std::string ErrorOf(const testing::Scene& scene) {
  const auto problem = ProblemOf(scene);
  return problem ? "" : problem.error().message;
}

TEST(MakeProblem, ResolvesLevelsGroupsAndNodes) {
  testing::Scene scene(testing::FourNodes());
  api::TrainingJob& job = scene.Job("j", 4);
  job.parallelism.tensor = 16;
  job.topology = {"spine", "leaf", std::nullopt, {{{traffic::Axis::kTensor}, "leaf", "node"}}};
  job.wait = {{"n2", "gone", "n1", "n2"}, {"n3", "n0"}, {"n3", "gone", "n1"}, std::nullopt};
  const auto problem = ProblemOf(scene);
  ASSERT_TRUE(problem) << problem.error().message;
  const objective::Request& request = problem->request;
  using Nodes = ByWorker<fabric::NodeIndex>;
  EXPECT_EQ(request.job, "ns/j");
  EXPECT_EQ(request.workers, 4u);
  EXPECT_EQ(request.required, kSpine);
  EXPECT_EQ(request.preferred, kLeaf);
  EXPECT_EQ(request.excluded, testing::NodesOf({1, 2}));
  EXPECT_EQ(problem->avoided, testing::NodesOf({0, 3}));
  EXPECT_EQ(request.previous_nodes,
            (Nodes{fabric::NodeIndex{3}, objective::kUnplaced, fabric::NodeIndex{1}}));
  EXPECT_FALSE(request.pool_choices);
  ASSERT_EQ(request.groups.size(), 1u);
  EXPECT_EQ(request.groups[0].required, kLeaf);
  EXPECT_EQ(request.groups[0].preferred, kNode);
  EXPECT_EQ(request.groups[0].sets.begin, (std::vector<std::uint32_t>{0, 2, 4}));
}

TEST(MakeProblem, HoldsToThePreferredLevelWhileItIsWaitedFor) {
  const auto required = [](std::optional<std::int64_t> wait, std::optional<std::int64_t> waited) {
    testing::Scene scene(testing::FourNodes());
    api::TrainingJob& job = scene.Job("j", 2);
    job.topology = {"spine", "leaf", wait, {}};
    job.wait.waited_seconds = waited;
    return ProblemOf(scene)->request.required;
  };
  EXPECT_EQ(required(600, 0), kLeaf);
  EXPECT_EQ(required(600, 599), kLeaf);
  EXPECT_EQ(required(600, 600), kSpine);
  EXPECT_EQ(required(600, std::nullopt), kSpine);
  EXPECT_EQ(required(std::nullopt, 0), kSpine);
}

TEST(MakeProblem, SaysWhichFieldNamesNoLevel) {
  const std::string at = "jobs.yaml: TrainingJob ns/j: spec.topology.";
  testing::Scene scene(testing::FourNodes());
  api::TrainingJob& job = scene.Job("j", 2);
  job.topology.groups = {{{traffic::Axis::kData}, "", ""}, {{traffic::Axis::kData}, "rack", "pod"}};
  EXPECT_EQ(ErrorOf(scene),
            at + "groups[1].required: unknown level \"rack\"; this fabric has spine, "
                 "leaf, node");
  scene.inputs.jobs.Edit(0).topology.groups = {{{traffic::Axis::kData}, "leaf", "leaf"}};
  EXPECT_EQ(ErrorOf(scene), "");
  scene.inputs.jobs.Edit(0).parallelism.tensor = 3;
  EXPECT_TRUE(ErrorOf(scene).starts_with("jobs.yaml: TrainingJob ns/j: spec.")) << ErrorOf(scene);
}

TEST(MakeProblem, SaysThatAScaleUpNetworkAcrossTheLevelsIsNoLevel) {
  testing::FabricShape shape;
  shape.scale_up = true;
  shape.nodes = {{.name = "a", .domains = {"s", "l0"}, .scale_up = "v0"},
                 {.name = "b", .domains = {"s", "l0"}, .scale_up = "v1"},
                 {.name = "c", .domains = {"s", "l1"}, .scale_up = "v0"},
                 {.name = "d", .domains = {"s", "l1"}, .scale_up = "v1"}};
  testing::Scene crossing(shape);
  crossing.Job("j", 2).topology.preferred = "nvlink";
  EXPECT_EQ(
      ErrorOf(crossing),
      "jobs.yaml: TrainingJob ns/j: spec.topology.preferred: \"nvlink\" cannot be named here, "
      "because its domains cross the levels of this fabric; these are spine, leaf, node");
  for (std::size_t n = 0; n < 4; ++n) shape.nodes[n].scale_up = n < 2 ? "v0" : "v1";
  testing::Scene nested(shape);
  nested.Job("j", 2).topology.preferred = "nvlink";
  EXPECT_EQ(ErrorOf(nested), "");
}

}  // namespace
}  // namespace weft::cluster
