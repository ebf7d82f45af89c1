#include "operator/cluster/running.h"

#include <gtest/gtest.h>

#include "operator/cluster/problem.h"
#include "tests/support/nodes_of.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

// "j: n0 n1": each with its nodes.
std::vector<std::string> Shown(const Cluster& cluster) {
  const auto running = RunningWorkloads(cluster);
  if (!running) return {running.error().message};
  std::vector<std::string> texts;
  for (const Running& one : *running) {
    std::string text = one.workload.key().name + ":";
    for (const fabric::NodeIndex node : one.nodes) {
      text += " " + cluster.fabrics[one.fabric].fabric->node(node).name;
    }
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(RunningWorkloads, AreThoseWithANodeForEachWorkerInTheirOrder) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("mine", 2, {"n3", "n1"});
  scene.Job("j", 2);
  scene.Placement("j-1", 2, {"n0", "n2"});
  scene.Job("waits", 1);
  scene.Placement("unplaced", 1);
  scene.Placement("short", 2, {"n0"});
  scene.Placement("gone", 2, {"n0", "n9"});
  scene.Job("done", 1).conditions = {{"Complete", "True", "", "", ""}};
  scene.Placement("done-1", 1, {"n0"});
  EXPECT_EQ(Shown(scene.Build()), (Texts{"mine: n3 n1", "j: n0 n2"}));
}

// Any user may write it.
TEST(RunningWorkloads, AreThereWhateverAnnotationsOthersHave) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("mine", 2, {"n3", "n1"});
  scene.Job("suspended", 1).meta.annotations.Set(api::kWaitedAnnotation, "x");
  EXPECT_EQ(Shown(scene.Build()), Texts{"mine: n3 n1"});
}

TEST(RunningWorkloads, AreOnTheFabricThatTheyNameOrThatHasTheirNodes) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics[0].spec.node_selector = {{{"test/leaf", "l0"}}, {}};
  scene.inputs.fabrics.push_back(scene.inputs.fabrics[0]);
  scene.inputs.fabrics[1].meta.key.name = "other";
  scene.inputs.fabrics[1].spec.node_selector = {{{"test/leaf", "l1"}}, {}};
  scene.Placement("any", 1, {"n2"});
  scene.Placement("named", 1, {"n0"}).fabric_name = "default";
  scene.Placement("elsewhere", 1, {"n0"}).fabric_name = "other";
  scene.Placement("both", 2, {"n0", "n2"});
  EXPECT_EQ(Shown(scene.Build()), (Texts{"any: n2", "named: n0"}));
}

TEST(OrderAll, ListsTheJobsThenThePlacements) {
  api::Inputs inputs;
  inputs.jobs.push_back(api::TrainingJob{});
  inputs.jobs.push_back(api::TrainingJob{});
  inputs.placements.push_back(api::Placement{});
  inputs.order = {{false, 7}};
  OrderAll(inputs);
  std::string text;
  for (const auto& entry : inputs.order) {
    text += (entry.is_job ? " job " : " placement ") + std::to_string(entry.index);
  }
  EXPECT_EQ(text, " job 0 job 1 placement 0");
}

// The workload "j" of so many workers, on the cluster.
struct OneJob {
  explicit OneJob(std::uint32_t workers, bool modelled = true, std::uint32_t each = 8) {
    testing::Scene scene(testing::FourNodes());
    if (modelled) {
      scene.Job("j", workers, each).model = testing::MeasuredData(1'000'000'000);
    } else {
      scene.Job("j", workers, each);
    }
    cluster = scene.Build();
    workload = PendingWorkloads(cluster, Order::kFile)->front();
  }
  const ClusterFabric& on() const { return cluster.fabrics[0]; }

  Cluster cluster;
  WorkloadView workload;
};

TEST(FlowsOf, AreTheBytesOutOfEachDomainThatIsUsedAndHowLongTheyTake) {
  const OneJob job(2);
  // A ring of 16 ranks on two leaves, 1 GB a step: each leaf sends 1 GB to the spine, at 40 ps a
  // byte and of 16 GPUs; each node as much to its leaf, at 20 ps and of 8. The spine sends nothing.
  std::string text;
  for (const DomainFlow& flow : FlowsOf(job.on(), job.workload, testing::WorkersOn({0, 2}))) {
    text += job.on().fabric->tiers()[flow.tier].name + " " + std::to_string(flow.domain.Raw()) +
            ": " + std::to_string(static_cast<std::int64_t>(flow.bytes)) + " " +
            std::to_string(flow.milliseconds) + "\n";
  }
  EXPECT_EQ(text,
            "spine 0: 0 0.000000\n"
            "leaf 0: 1000000000 2.500000\n"
            "leaf 1: 1000000000 2.500000\n"
            "node 0: 1000000000 2.500000\n"
            "node 2: 1000000000 2.500000\n");
}

TEST(FlowsOf, AreNoneWithoutAModel) {
  const OneJob job(2, false);
  EXPECT_TRUE(FlowsOf(job.on(), job.workload, testing::WorkersOn({0, 2})).empty());
}

std::optional<double> OverBest(const OneJob& job, objective::Nodes nodes) {
  return CostOverBest(job.on(), *MakeProblem(job.on(), job.workload), nodes);
}

TEST(CostOverBest, ComparesWithTheEmptyFabric) {
  const OneJob pair(2);
  EXPECT_EQ(OverBest(pair, testing::WorkersOn({0, 1})), 1);
  EXPECT_EQ(OverBest(pair, testing::WorkersOn({0, 2})), 2);  // 40 ps a byte for 20
  const OneJob half(2, true, 4);
  EXPECT_EQ(OverBest(half, testing::WorkersOn({0, 0})), 1);
  EXPECT_EQ(OverBest(half, testing::WorkersOn({0, 1})), std::nullopt);  // the best is 0
  const OneJob large(5);
  EXPECT_EQ(OverBest(large, testing::WorkersOn({0, 1, 2, 3, 0})), std::nullopt);
}

}  // namespace
}  // namespace weft::cluster
