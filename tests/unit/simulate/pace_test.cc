#include "operator/simulate/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "operator/base/random.h"
#include "operator/predict/contention.h"
#include "operator/simulate/trace_shapes.h"
#include "tests/support/nodes_of.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

using fabric::NodeIndex;

// Leaves of 16 nodes, whose uplinks carry an eighth of what the nodes' ports do.
testing::FabricShape Tapered(int leaves) {
  testing::FabricShape shape = testing::Leaves(std::vector<testing::FreePerNode>(
      static_cast<std::size_t>(leaves), testing::FreePerNode(16, 8)));
  for (testing::TestNode& node : shape.nodes) {
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
  }
  return shape;
}

struct PaceScene {
  explicit PaceScene(std::vector<std::uint32_t> gpus, int percent = 800) {
    testing::Scene scene(Tapered(4));
    scene.inputs.fabrics.front().spec.levels.front().link->oversubscription_percent = percent;
    cluster.emplace(scene.Build());
    Trace trace;
    for (const std::uint32_t one : gpus) trace.jobs.push_back({"j", 0, kSecond, one, {}, 0});
    auto made = MakeScenario(*cluster, &trace, {});
    EXPECT_TRUE(made);
    scenario.emplace(*std::move(made));
  }
  std::optional<cluster::Cluster> cluster;
  std::optional<Scenario> scenario;
};

TEST(Paces, AJobOfOneNodeUsesNoLink) {
  const PaceScene scene({8});
  const predict::Pace pace =
      Paces(*scene.scenario->on).Of(scene.scenario->shapes[0], testing::WorkersOn({3}));
  EXPECT_EQ(pace.alone, 0);
  EXPECT_TRUE(pace.uses.empty());
}

TEST(Paces, InsideOneLeafAJobIsAsFastAloneAsAmongOthers) {
  const PaceScene scene({64});
  ByWorker<NodeIndex> nodes(8);
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  const predict::Pace pace = Paces(*scene.scenario->on).Of(scene.scenario->shapes[0], nodes);
  EXPECT_GT(pace.alone, 0);
  EXPECT_DOUBLE_EQ(pace.alone, pace.shared);
  EXPECT_TRUE(pace.uses.empty());
}

TEST(Paces, AcrossATaperedUplinkNeighboursCost) {
  const PaceScene scene({64});
  const ByWorker<NodeIndex> nodes = testing::WorkersOn({0, 1, 2, 3, 16, 17, 18, 19});
  const predict::Pace pace = Paces(*scene.scenario->on).Of(scene.scenario->shapes[0], nodes);
  EXPECT_LT(pace.alone, pace.shared);
  ASSERT_EQ(pace.uses.size(), 2U);
  EXPECT_EQ(pace.uses[0].gpus, 32);
  EXPECT_DOUBLE_EQ(pace.uses[0].bytes, pace.uses[1].bytes);
  // Without a taper every GPU has its port's rate, whatever the others do.
  const PaceScene flat({64}, 100);
  const predict::Pace same = Paces(*flat.scenario->on).Of(flat.scenario->shapes[0], nodes);
  EXPECT_DOUBLE_EQ(same.alone, same.shared);
}

// What Weft predicts for a placement counts only the job's own share of each link, so no set of
// neighbours can make a job slower than that.
TEST(Paces, ContentionNeverExceedsThePrediction) {
  constexpr int kPercent = 6'400;  // links that are full on average
  const PaceScene scene({128, 64, 96, 32, 128, 64}, kPercent);
  const Paces paces(*scene.scenario->on);
  SplitMix64 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<NodeIndex> free(64);
    std::iota(free.begin(), free.end(), NodeIndex{0});
    for (std::size_t i = 0; i < free.size(); ++i) {
      std::swap(free[i], free[i + random.Below(free.size() - i)]);
    }
    predict::Contention contention(paces.uplinks());
    std::vector<predict::Pace> all;
    std::size_t used = 0;
    for (std::uint32_t j = 0; j < scene.scenario->jobs.size(); ++j) {
      const Shape& shape = scene.scenario->shapes[scene.scenario->jobs[j].shape];
      const ByWorker<NodeIndex> nodes(
          free.begin() + static_cast<std::ptrdiff_t>(used),
          free.begin() + static_cast<std::ptrdiff_t>(used + shape.workload.workers));
      used += nodes.size();
      all.push_back(paces.Of(shape, nodes));
      contention.Add(j, all.back());
    }
    contention.Update();
    for (std::uint32_t j = 0; j < all.size(); ++j) {
      EXPECT_LE(all[j].alone / contention.speed(j), all[j].shared * (1 + 1e-6));
    }
  }
}

TEST(TraceShape, EverySizeIsAValidJob) {
  for (const std::uint32_t node : {1U, 4U, 8U, 16U}) {
    for (std::uint32_t gpus = 1; gpus <= 2100; gpus = gpus < 160 ? gpus + 1 : gpus * 5 / 4) {
      const api::TrainingJob job = TraceShape({testing::kGpu, node}, gpus);
      EXPECT_GE(job.replicas * job.accelerator.per_worker, gpus);
      EXPECT_LT(job.replicas * job.accelerator.per_worker, gpus + node);
      const auto traffic = traffic::ComputeTraffic(job.model, job.parallelism, job.replicas,
                                                   job.accelerator.per_worker);
      EXPECT_TRUE(traffic) << gpus << " GPUs: " << traffic.error().message;
      EXPECT_EQ(job.model.has_value(), job.replicas > 1);
    }
  }
}

}  // namespace
}  // namespace weft::simulate
