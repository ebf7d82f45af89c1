#include "operator/report/outlook.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using testing::Scene;

constexpr const char* kProduct = "nvidia.com/gpu.product";

testing::FabricShape FourNodesOf(const char* product) {
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) node.labels[kProduct] = product;
  return shape;
}

// Llama-3 70B over four nodes of eight.
api::TrainingJob& Llama(testing::Scene& scene, const std::string& name) {
  api::TrainingJob& job = scene.Job(name, 4);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.parallelism.tensor = 8;
  job.parallelism.sharding = traffic::Sharding::kFull;
  return job;
}

OutlookReport OutlookOf(const Cluster& cluster) {
  const auto plan = plan::Plan(cluster);
  EXPECT_TRUE(plan);
  const auto report = Outlook(cluster, *plan);
  EXPECT_TRUE(report);
  return *report;
}

TEST(Outlook, PredictsAJobThatThePlanPlaces) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  Llama(scene, "llama");
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_EQ(report.jobs.size(), 1u);
  const JobOutlook& job = report.jobs[0];
  EXPECT_EQ(job.job, "ns/llama");
  EXPECT_EQ(job.accelerator, "H100");
  EXPECT_EQ(job.accelerators, 32);
  EXPECT_FALSE(job.held);
  ASSERT_TRUE(job.prediction) << job.prediction.error().message;
  EXPECT_GT(job.prediction->step.Seconds(), 100);
  EXPECT_EQ(job.prediction->calibration->name, "Hopper BF16, FSDP");
}

TEST(Outlook, TheJsonHasPlainNumbersThatAddUp) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  Llama(scene, "llama");
  const auto json = OutlookJson(OutlookOf(scene.Build()));
  ASSERT_EQ(json.size(), 1u);
  const auto& job = json[0];
  double memory = 0;
  for (const char* part : {"weights", "gradients", "optimizer", "activations", "other"}) {
    memory += job["memoryBytesPerGPU"][part].get<double>();
  }
  EXPECT_NEAR(memory, job["memoryBytesPerGPU"]["total"].get<double>(), 5);
  EXPECT_EQ(job["fits"].get<bool>(), memory <= job["memoryBytesPerGPU"]["capacity"].get<double>());
  double exposed = 0;
  for (const auto& [axis, seconds] : job["exposedCommunicationSeconds"].items()) {
    exposed += seconds.get<double>();
  }
  EXPECT_NEAR(job["computeSeconds"].get<double>() + job["bubbleSeconds"].get<double>() + exposed,
              job["stepSeconds"].get<double>(), 1e-9);
  EXPECT_TRUE(job["costPerHour"].is_null());
  EXPECT_EQ(job["calibration"]["name"], "Hopper BF16, FSDP");
}

TEST(Outlook, AJobThatHoldsItsNodesIsPredictedOnThose) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  api::Placement& held = scene.Placement("held", 4, {"n0", "n1", "n2", "n3"});
  held.model = traffic::Model{traffic::testing::Llama70B(), {}};
  held.parallelism.tensor = 8;
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_EQ(report.jobs.size(), 1u);
  EXPECT_TRUE(report.jobs[0].held);
  EXPECT_TRUE(report.jobs[0].prediction);
}

TEST(Outlook, OmitsJobsWithoutModelOrNodesWithAReason) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  scene.Job("plain", 1);
  Llama(scene, "large").replicas = 8;
  const OutlookReport report = OutlookOf(scene.Build());
  EXPECT_TRUE(report.jobs.empty());
  EXPECT_FALSE(report.all_placed);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes[0].text,
            "TrainingJob ns/plain has no spec.model.transformer to predict from.");
  EXPECT_EQ(report.notes[1].reason, "NotPlaced");
}

TEST(Outlook, AnUnknownAcceleratorIsNamedWithTheNodeAndThoseThatAreKnown) {
  testing::Scene scene(FourNodesOf("NVIDIA-Z1"));
  Llama(scene, "llama");
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_EQ(report.jobs.size(), 1u);
  ASSERT_FALSE(report.jobs[0].prediction);
  const std::string message = report.jobs[0].prediction.error().message;
  EXPECT_EQ(message.rfind("node n0: label nvidia.com/gpu.product: unknown accelerator "
                          "\"NVIDIA-Z1\"; known are GB300",
                          0),
            0u)
      << message;
}

TEST(Outlook, AnUnknownAcceleratorOfTheFabricIsNamedAtTheFabric) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics[0].spec.accelerator_model = "H900";
  Llama(scene, "llama");
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_FALSE(report.jobs[0].prediction);
  EXPECT_EQ(report.jobs[0].prediction.error().message,
            "fabric.yaml: Fabric default: spec.acceleratorModel: unknown accelerator \"H900\"; the "
            "nearest known are H200 and H100. Correct the name, or describe the accelerator in "
            "spec.accelerators of the Fabric or the file of --accelerators");
}

TEST(Outlook, SettingsThatTrainingSoftwareRefusesAreNotes) {
  testing::Scene scene(FourNodesOf("NVIDIA-H100-80GB-HBM3"));
  api::TrainingJob& job = Llama(scene, "llama");
  EXPECT_FALSE(OutlookJson(OutlookOf(scene.Build()))[0].contains("notes"));
  job.model->transformer->key_value_heads = 4;
  const auto json = OutlookJson(OutlookOf(scene.Build()));
  EXPECT_EQ(json[0]["notes"],
            nlohmann::ordered_json::array({"spec.parallelism.tensor: 8 does not divide "
                                           "keyValueHeads 4; Megatron-LM refuses it"}));
}

TEST(Outlook, SpotNodesAreInterruptedToo) {
  testing::FabricShape shape = FourNodesOf("NVIDIA-H100-80GB-HBM3");
  for (auto& node : shape.nodes) node.labels["karpenter.sh/capacity-type"] = "spot";
  testing::Scene scene(shape);
  Llama(scene, "llama");
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_EQ(report.jobs.size(), 1u);
  EXPECT_NEAR(report.jobs[0].reliability.hours_between_failures, 24'000 / (4 * 103.79), 1e-6);
}

TEST(Outlook, WithoutALabelTheFabricOrTheInstanceTypeNamesTheAccelerator) {
  testing::Scene without(testing::FourNodes());
  Llama(without, "llama");
  const OutlookReport none = OutlookOf(without.Build());
  ASSERT_FALSE(none.jobs[0].prediction);
  EXPECT_NE(none.jobs[0].prediction.error().message.find("set spec.acceleratorModel"),
            std::string::npos);
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) {
    node.labels["node.kubernetes.io/instance-type"] = "p5en.48xlarge";
  }
  testing::Scene typed(shape);
  Llama(typed, "llama");
  EXPECT_EQ(OutlookOf(typed.Build()).jobs[0].accelerator, "H200");
}

TEST(Outlook, TheDriversMemoryCountsWhereANodeSaysIt) {
  testing::FabricShape shape = FourNodesOf("NVIDIA-H100-80GB-HBM3");
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.memory"] = "95830";
  testing::Scene scene(shape);
  Llama(scene, "llama");
  const OutlookReport report = OutlookOf(scene.Build());
  ASSERT_TRUE(report.jobs[0].prediction);
  EXPECT_NEAR(report.jobs[0].prediction->capacity, 0.94 * 95830 * 1024 * 1024, 1);
}

}  // namespace
}  // namespace weft::report
