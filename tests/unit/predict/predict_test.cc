#include "operator/predict/predict.h"
#include "operator/api/conditions.h"
#include "operator/cluster/build_cluster.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/plan/plan.h"
#include "operator/plan/status.h"
#include "tests/support/models.h"
#include "tests/support/nodes_of.h"
#include "tests/support/scene.h"

namespace weft::predict {
namespace {

using Json = nlohmann::ordered_json;

testing::FabricShape FourNodesOf(const char* product) {
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = product;
  return shape;
}

// Llama-3 70B on four nodes of eight.
api::TrainingJob& Llama(testing::Scene& scene, traffic::Sharding sharding) {
  api::TrainingJob& job = scene.Job("llama", 4);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->recomputation = traffic::Recomputation::kFull;
  job.parallelism.tensor = 8;
  job.parallelism.sharding = sharding;
  return job;
}

Json StatusOf(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  return report ? plan::PlacementOf(cluster, report->entries[0])["status"]
                : Json(report.error().message);
}

TEST(PredictTest, TheStatusOfAPlacementSaysWhatIsPredicted) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  Llama(scene, traffic::Sharding::kFull);
  const Json status = StatusOf(scene);
  const Json& outlook = status["outlook"];
  EXPECT_EQ(outlook["accelerator"], "H100");
  EXPECT_EQ(outlook["fits"], true);
  EXPECT_EQ(outlook["memoryPerGPU"]["capacity"], "80.39G");
  const auto percent = outlook["memoryPerGPU"]["percent"].get<int>();
  EXPECT_TRUE(percent > 30 && percent <= 100) << percent;
  const auto step = outlook["stepMilliseconds"].get<std::int64_t>();
  EXPECT_GT(step, 100'000);
  EXPECT_LT(outlook["stepMillisecondsLow"].get<std::int64_t>(), step);
  EXPECT_GT(outlook["stepMillisecondsHigh"].get<std::int64_t>(), step);
  EXPECT_NEAR(outlook["tokensPerSecond"].get<double>(),
              512 * 8192 * 1e3 / static_cast<double>(step), 1);
  // 98 of idle, nine tenths of the other 602, and 280 of the server: 919.8 W a GPU.
  EXPECT_EQ(outlook["powerWatts"], 29'434);
  EXPECT_EQ(outlook["acceleratorPowerWatts"], 20'474);
  EXPECT_FALSE(outlook.contains("costPerHour"));
  EXPECT_EQ(outlook["calibration"], "Hopper BF16, FSDP");
  EXPECT_EQ(status["conditions"].size(), 1u);
}

TEST(PredictTest, PlacesAJobThatExceedsMemoryWithAWarning) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  Llama(scene, traffic::Sharding::kNone);
  const Json status = StatusOf(scene);
  EXPECT_EQ(status["nodes"].size(), 4u);
  EXPECT_EQ(status["outlook"]["fits"], false);
  EXPECT_GT(status["outlook"]["memoryPerGPU"]["percent"], 100);
  ASSERT_EQ(status["conditions"].size(), 2u);
  const Json& warning = status["conditions"][1];
  EXPECT_EQ(warning["type"], api::kMemoryFits);
  EXPECT_EQ(warning["status"], "False");
  EXPECT_EQ(warning["reason"], "DoesNotFit");
  const std::string message = warning["message"];
  EXPECT_EQ(message.rfind("By prediction a GPU would hold ", 0), 0u) << message;
  EXPECT_NE(message.find(". It fits in "), std::string::npos) << message;
  EXPECT_NE(message.find(" GB with sharding: "), std::string::npos) << message;
}

TEST(PredictTest, NothingIsSaidOfAnUnknownAcceleratorOrAMeasuredModel) {
  testing::Scene unknown(FourNodesOf("NVIDIA-Z1"));
  Llama(unknown, traffic::Sharding::kFull);
  EXPECT_EQ(StatusOf(unknown)["nodes"].size(), 4u);
  EXPECT_FALSE(StatusOf(unknown).contains("outlook"));
  testing::Scene measured(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  measured.Job("m", 4).model = testing::MeasuredData(1'000'000'000);
  EXPECT_FALSE(StatusOf(measured).contains("outlook"));
}

TEST(PredictTest, InAGangOfSeveralProductsTheSlowestCounts) {
  const cluster::Cluster cluster = testing::Scene(testing::ThreeProducts()).Build();
  const fabric::Fabric& fabric = *cluster.fabrics[0].fabric;
  const auto of = [&](std::vector<fabric::NodeIndex> nodes) {
    const auto found = AcceleratorOf(fabric, "nvidia.com/gpu", nodes);
    return found ? std::string(found->name) : found.error().message;
  };
  const fabric::NodeIndex a100 = *fabric.FindNode("n0"), h100 = *fabric.FindNode("n2");
  EXPECT_EQ(of({h100}), "H100");
  EXPECT_EQ(of({h100, h100, a100}), "A100-80GB");
}

TEST(PredictTest, WithoutAProductEveryInstanceTypeIsLookedAt) {
  testing::FabricShape shape = testing::FourNodes();
  const char* const types[] = {"p5.48xlarge", "p5.48xlarge", "p4de.24xlarge", "p5.48xlarge"};
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels["node.kubernetes.io/instance-type"] = types[n];
  }
  const cluster::Cluster cluster = testing::Scene(shape).Build();
  const std::vector<fabric::NodeIndex> all = testing::NodesOf({0, 1, 2, 3});
  const auto found = AcceleratorOf(*cluster.fabrics[0].fabric, "nvidia.com/gpu", all);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "A100-80GB");
}

// The accelerator of n0, whose labels and resources are given.
Result<outlook::Accelerator> OfUnit(const std::map<std::string, std::string>& labels,
                                    const std::string& resource, std::int64_t units) {
  testing::FabricShape shape = testing::FourNodes();
  shape.nodes[0].labels = labels;
  shape.nodes[0].accelerators = 0;
  shape.nodes[0].allocatable[resource] = units;
  // The name of a part belongs to the fabric.
  static std::vector<cluster::Cluster> clusters;
  clusters.push_back(testing::Scene(shape).Build());
  const fabric::Fabric& fabric = *clusters.back().fabrics[0].fabric;
  const fabric::NodeIndex node = *fabric.FindNode("n0");
  return AcceleratorOf(fabric, resource, std::span(&node, 1));
}

TEST(PredictTest, APartOfAGpuHasItsShare) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const std::string product = "NVIDIA-H100-80GB-HBM3";
  const outlook::Accelerator whole =
      *OfUnit({{"nvidia.com/gpu.product", product}, {"nvidia.com/gpu.memory", "81559"}},
              "nvidia.com/gpu", 8);
  EXPECT_EQ(outlook::NameOf(whole), "H100");
  EXPECT_EQ(whole.share, 1);
  const auto slice = OfUnit({{"nvidia.com/gpu.product", product + "-SHARED"},
                             {"nvidia.com/gpu.count", "4"},
                             {"nvidia.com/gpu.memory", "81559"}},
                            "nvidia.com/gpu", 16);
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_EQ(outlook::NameOf(*slice), "H100 (time slice 1/4)");
  EXPECT_DOUBLE_EQ(slice->bf16, whole.bf16 / 4);
  EXPECT_DOUBLE_EQ(slice->memory_bytes, whole.memory_bytes / 4);
  EXPECT_DOUBLE_EQ(slice->memory_bytes_per_second, whole.memory_bytes_per_second / 4);
  EXPECT_DOUBLE_EQ(slice->watts, whole.watts / 4);
  const auto single = OfUnit(
      {{"nvidia.com/gpu.product", product + "-MIG-1g.10gb"}, {"nvidia.com/gpu.memory", "9856"}},
      "nvidia.com/gpu", 56);
  ASSERT_TRUE(single) << single.error().message;
  EXPECT_EQ(outlook::NameOf(*single), "H100 (MIG 1g.10gb)");
  EXPECT_DOUBLE_EQ(single->bf16, whole.bf16 / 7);
  EXPECT_DOUBLE_EQ(single->memory_bytes, 9856 * kMiB);
  EXPECT_NEAR(single->memory_bytes_per_second, whole.memory_bytes_per_second * 9856 / 81559, 1e6);
  const auto mixed = OfUnit({{"nvidia.com/gpu.product", product},
                             {"nvidia.com/gpu.memory", "81559"},
                             {"nvidia.com/mig-3g.40gb.memory", "40192"}},
                            "nvidia.com/mig-3g.40gb", 16);
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(outlook::NameOf(*mixed), "H100 (nvidia.com/mig-3g.40gb)");
  EXPECT_DOUBLE_EQ(mixed->memory_bytes, 40192 * kMiB);
  EXPECT_DOUBLE_EQ(mixed->share, 3.0 / 7);
  // The size in the product's name is the slice's.
  const auto a100 = OfUnit({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-3g.40gb"}},
                           "nvidia.com/gpu", 16);
  ASSERT_TRUE(a100) << a100.error().message;
  EXPECT_EQ(a100->name, "A100-80GB");
  const auto amd = OfUnit({{"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"},
                           {"amd.com/gpu.compute-memory-partition", "CPX_NPS4"}},
                          "amd.com/gpu", 64);
  ASSERT_TRUE(amd) << amd.error().message;
  EXPECT_EQ(outlook::NameOf(*amd), "MI300X (CPX 1/8)");
  EXPECT_DOUBLE_EQ(amd->share, 0.125);
  const auto virtual_gpu =
      OfUnit({{"nvidia.com/gpu.product", "GRID-V100-8Q"}, {"nvidia.com/gpu.memory", "8192"}},
             "nvidia.com/gpu", 2);
  ASSERT_TRUE(virtual_gpu) << virtual_gpu.error().message;
  EXPECT_EQ(outlook::NameOf(*virtual_gpu), "V100 (vGPU)");
  EXPECT_DOUBLE_EQ(virtual_gpu->share, 0.5);
  const auto unknown =
      OfUnit({{"nvidia.com/gpu.product", product + "-SHARED"}}, "nvidia.com/gpu", 16);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message.substr(0, 70),
            "node n0: nvidia.com/gpu is a part of H100 (time slice), but no label s");
}

// Four GPUs in sixteen slots are as fast as four GPUs, not as sixteen.
TEST(PredictTest, SlicesAddUpToTheirGpus) {
  const auto tokens = [](const std::map<std::string, std::string>& labels, std::uint32_t each) {
    testing::FabricShape shape = testing::FourNodes();
    for (auto& node : shape.nodes) node.labels = labels;
    testing::Scene scene(shape);
    api::TrainingJob& job = scene.Job("j", 2, each);
    job.model = traffic::Model{traffic::testing::Llama70B(), {}};
    job.parallelism.sharding = traffic::Sharding::kFull;
    return StatusOf(scene)["outlook"]["tokensPerSecond"].get<double>();
  };
  const double whole = tokens({{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}}, 2);
  const double slices = tokens(
      {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-SHARED"}, {"nvidia.com/gpu.count", "2"}},
      8);
  EXPECT_LE(slices, whole);
  EXPECT_GT(slices, whole / 4);
}

TEST(PredictTest, EachNodeCostsWhatItsProductAndItsCapacityTypeDo) {
  const cluster::Cluster cluster = testing::Scene(testing::ThreeProducts()).Build();
  const fabric::Fabric& fabric = *cluster.fabrics[0].fabric;
  outlook::Prices prices;
  prices.currency = "USD";
  prices.prices = {{"H100", 3.0, 2.0, 1.5, ""},
                   {"A100-80GB", 1.25, std::nullopt, std::nullopt, ""}};
  const auto cost = [&](std::vector<const char*> names) {
    std::vector<fabric::NodeIndex> nodes;
    for (const char* name : names) nodes.push_back(*fabric.FindNode(name));
    return CostPerHour(fabric, {"nvidia.com/gpu", 8}, nodes, prices);
  };
  EXPECT_EQ(cost({"n2", "n3"}), 48);
  EXPECT_EQ(cost({"n2", "n5", "n0"}), 24 + 12 + 10);  // n5 is spot
  EXPECT_EQ(cost({"n2", "n7"}), std::nullopt);        // nobody says what an H200 costs
  prices.terms = outlook::Terms::kReserved;
  EXPECT_EQ(cost({"n2", "n5"}), 16 + 12);
  EXPECT_EQ(cost({"n0"}), std::nullopt);
}

TEST(PredictTest, APlanWithPricesSaysWhatAJobCosts) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  Llama(scene, traffic::Sharding::kFull);
  const cluster::Cluster cluster = scene.Build();
  outlook::Prices prices;
  prices.currency = "EUR";
  prices.prices = {{"H100", 2.953, std::nullopt, std::nullopt, ""}};
  plan::PlanOptions options;
  options.prices = &prices;
  const auto report = plan::Plan(cluster, options);
  ASSERT_TRUE(report);
  const Json outlook = plan::PlacementOf(cluster, report->entries[0])["status"]["outlook"];
  EXPECT_EQ(outlook["costPerHour"], "94.50");  // 32 x 2.953
  EXPECT_EQ(outlook["currency"], "EUR");
}

TEST(PredictTest, WattsAddUpInEveryDomain) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  scene.Job("plain", 3);
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  ASSERT_TRUE(report);
  const plan::PlanEntry& entry = report->entries[0];
  const auto watts = WattsOf(cluster.fabrics[0], entry.workload, entry.placed()->plan.nodes);
  const auto h100 = outlook::FindAccelerator("H100");
  ASSERT_TRUE(h100);
  const double node = outlook::PowerOf(*h100, 8);
  ASSERT_EQ(watts.size(), 3u);  // the spine, then its two leaves
  EXPECT_DOUBLE_EQ(watts[0].watts, 3 * node);
  EXPECT_DOUBLE_EQ(watts[1].watts + watts[2].watts, 3 * node);
  EXPECT_EQ(watts[1].tier, watts[2].tier);
}

TEST(PredictTest, AFabricAddsAnAcceleratorAndPooledMemory) {
  testing::Scene scene(FourNodesOf("ACME-X1-OAM"));
  Llama(scene, traffic::Sharding::kFull);
  fabric::AcceleratorSpec x1;
  x1.name = "X1";
  x1.bf16 = 1'200'000'000'000'000;
  x1.memory_bytes = 40'000'000'000;
  x1.memory_bytes_per_second = 4'000'000'000'000;
  x1.watts = 800;
  scene.inputs.fabrics[0].spec.accelerators = {x1};
  const Json without = StatusOf(scene)["outlook"];
  EXPECT_EQ(without["accelerator"], "X1");
  EXPECT_EQ(without["fits"], false);
  EXPECT_EQ(without["calibration"], "Assumed");
  scene.inputs.fabrics[0].spec.pooled_memory = {500'000'000'000, 63'000'000'000};
  const Json with = StatusOf(scene)["outlook"];
  EXPECT_EQ(with["fits"], true);
  EXPECT_EQ(with["memoryPerGPU"]["percent"], 100);
  EXPECT_GT(with["stepMilliseconds"], without["stepMilliseconds"]);
  // A file's come before the Fabric's own.
  x1.watts = 0;
  x1.calibrated_as = "H100";
  scene.inputs.accelerators = {x1};
  EXPECT_EQ(StatusOf(scene)["outlook"]["calibration"], "Hopper BF16, FSDP, calibrated as H100");
}

TEST(PredictTest, AnUnknownCalibrationIsNamed) {
  testing::Scene scene(FourNodesOf("ACME-X1-OAM"));
  fabric::AcceleratorSpec x1;
  x1.name = "X1";
  x1.calibrated_as = "X0";
  scene.inputs.fabrics[0].spec.accelerators = {x1};
  const auto refused = cluster::BuildFabrics(scene.inputs, cluster::OnBadFabric::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.rfind(
                "fabric.yaml: Fabric default: spec.accelerators[0].calibratedAs: \"X0\"", 0),
            0u)
      << refused.error().message;
  const auto kept = cluster::BuildFabrics(scene.inputs, cluster::OnBadFabric::kSetAside);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->notes[0].reason, "AcceleratorInvalid");
}

// A leaf of two DGX H100 draws 15.68 kW at full power.
TEST(PredictTest, ALevelsPowerLimitHoldsForAllJobsTogether) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  scene.inputs.fabrics[0].spec.levels.back().power_watts = 15'000;
  scene.Job("first", 2);
  scene.Job("second", 1);
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  ASSERT_TRUE(report);
  ASSERT_NE(report->entries[0].placed(), nullptr);
  EXPECT_EQ(report->entries[0].placed()->plan.nodes, testing::WorkersOn({0, 2}));
  const plan::Refused* refused = report->entries[1].refused();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->reason, "InsufficientCapacity");
  EXPECT_NE(refused->message.find(
                "may draw 15kW, pods there draw up to 7.84kW, each worker would add 7.84kW"),
            std::string::npos)
      << refused->message;
}

}  // namespace
}  // namespace weft::predict
