#include "operator/report/explain.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/report/explain_held.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;

using Sentences = std::vector<std::string>;

// One level, four leaves of one node each: nothing of two workers can share a leaf.
testing::FabricShape FourLeaves() { return testing::Leaves({{8}, {8}, {8}, {8}}); }

// Both groups are all four workers, once by two names.
api::TrainingJob& WishedTogether(testing::Scene& scene, const char* level) {
  api::TrainingJob& job = scene.Job("j", 4);
  job.parallelism.tensor = 8;
  using traffic::Axis;
  job.topology.groups = {{{Axis::kTensor, Axis::kData}, "", level}, {{Axis::kData}, "", level}};
  return job;
}

Explanation WhyWaiting(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  const auto all = Explain(cluster, *report, {});
  return all->front();
}

Explanation WhyHeld(const testing::Scene& scene, const std::string& name) {
  const auto all = ExplainHeld(scene.Build(), {name});
  return all->front().explanation;
}

TEST(Explain, TheSetOfWorkersThatTwoGroupsNameIsMissedOnce) {
  testing::Scene scene(FourLeaves());
  WishedTogether(scene, "leaf");
  EXPECT_EQ(WhyWaiting(scene).why_here,
            (Sentences{"1 group of workers does not share the level that topology.groups prefers.",
                       "Wholly free domains that it uses: 1 spine, 4 leaf, 4 node.",
                       "The search was exhaustive: no placement costs less."}));
}

TEST(Explain, SaysOfHeldNodesWhatItSaysOfThemBefore) {
  testing::Scene scene(FourLeaves());
  WishedTogether(scene, "leaf");
  scene.Placement("j-1", 4, {"n0", "n1", "n2", "n3"}).meta.labels = {{"weft.dev/job-name", "j"}};
  EXPECT_EQ(WhyHeld(scene, "j").why_here,
            (Sentences{"Placement ns/j-1 gives it these nodes.",
                       "1 group of workers does not share the level that topology.groups prefers.",
                       "Wholly free domains that it uses: 1 spine, 4 leaf, 4 node.",
                       "If it were placed again now, on free nodes and its own, it would cost no "
                       "less."}));
}

TEST(Explain, PointsToAuditForAGangOfAnotherController) {
  testing::Scene scene(FourLeaves());
  scene.Pod("train-0", "n0").meta.owners = {{"batch/v1", "Job", "train", "u1", true}};
  const auto why = [&](const char* name) {
    return ExplainHeld(scene.Build(), {name}).error().message;
  };
  const std::string none =
      ": no TrainingJob or Placement of this name waits for nodes or holds nodes";
  EXPECT_EQ(why("nobody"), "\"nobody\"" + none);
  for (const std::string name : {"train", "ns/train"}) {
    EXPECT_EQ(why(name.c_str()),
              "\"" + name + "\"" + none + "; `weft audit` shows what the nodes of this Job cost");
  }
}

TEST(Explain, SaysWhatPodsWaitForThatNoPlacementSelects) {
  testing::Scene scene(FourLeaves());
  api::Pod& pod = scene.Pod("train-0", "");
  pod.meta.owners = {{"batch/v1", "Job", "train", "u1", true}};
  pod.scheduling_gates = {api::kGate};
  EXPECT_EQ(
      ExplainHeld(scene.Build(), {"train"}).error().message,
      "\"train\": no TrainingJob or Placement of this name waits for nodes or holds nodes; the "
      "pods of this Job wait with the scheduling gate weft.dev/placement, but no Placement "
      "selects them: the operator makes one for pods with the label weft.dev/place: \"true\"");
}

TEST(Explain, SaysWhichDomainIsNearestToItsPowerLimit) {
  testing::FabricShape shape = FourLeaves();
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "H100";
  testing::Scene scene(shape);
  scene.inputs.fabrics[0].spec.levels.front().power_watts = 30'000;
  scene.Job("j", 3);
  const Sentences why = WhyWaiting(scene).why_here;
  EXPECT_NE(std::find(why.begin(), why.end(),
                      "Of the spine domains that it uses, s0 draws most: 23.52kW at full power, of "
                      "30kW (powerWatts)."),
            why.end())
      << why.back();
}

TEST(Explain, CountsTheGroupsThatAreMissed) {
  testing::Scene scene(FourLeaves());
  api::TrainingJob& job = scene.Job("j", 4);
  job.parallelism.tensor = 16;
  job.topology.groups = {{{traffic::Axis::kTensor}, "", "leaf"}};
  EXPECT_EQ(WhyWaiting(scene).why_here.front(),
            "2 groups of workers do not share the level that topology.groups prefers.");
}

TEST(Explain, SaysWhichProductAndWhy) {
  testing::Scene scene(testing::ThreeProducts());
  scene.Job("j", 2).accelerator.models = {"H200", "A100"};
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  const auto why = Explain(cluster, *report, {});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->front().why_here.front(),
            "Its nodes are A100-SXM4-80GB (OnDemand), the first choice of accelerator.models and "
            "capacityTypes with room for it; NVIDIA-H200 (OnDemand) has room for 1 of 2 workers.");
}

}  // namespace
}  // namespace weft::report
