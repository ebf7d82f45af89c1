#include "operator/decide/learned.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "operator/decide/plan.h"
#include "operator/decide/status.h"
#include "tests/support/models.h"
#include "tests/unit/decide/scene.h"

namespace weft::decide {
namespace {

using Json = nlohmann::json;

testing::FabricShape SixH100() {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "H100";
  return shape;
}

api::TrainingJob& Llama(Scene& scene, const std::string& name, std::uint32_t replicas) {
  api::TrainingJob& job = scene.Job(name, replicas);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->recomputation = traffic::Recomputation::kFull;
  job.parallelism.tensor = 8;
  job.parallelism.sharding = traffic::Sharding::kFull;
  return job;
}

// A job that runs on a node, for which a step of 10 s was predicted.
api::TrainingJob& Measured(Scene& scene, const std::string& name, const std::string& node,
                           const std::string& seconds, Json outlook = Json::object()) {
  api::TrainingJob& job = Llama(scene, name, 1);
  job.meta.annotations.Set(kMeasuredStepAnnotation, seconds);
  api::Placement& placement = scene.Placement(name + "-1", 1, {node});
  Json told = {{"accelerator", "H100"}, {"stepMilliseconds", 10'000}};
  told.update(outlook);
  placement.raw = std::make_shared<const Json>(Json{{"status", {{"outlook", std::move(told)}}}});
  return job;
}

Json OutlookOf(const Scene& scene) {
  const Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  if (!report) return report.error().message;
  return PlacementOf(cluster, report->entries.back())["status"]["outlook"];
}

TEST(LearnedScalars, WithoutAMeasurementThereIsNone) {
  Scene scene(SixH100());
  Llama(scene, "new", 2);
  EXPECT_FALSE(OutlookOf(scene).contains("learnedPercent"));
}

// 8 and 12.5 of 10 s are 0.8 and 1.25, whose geometric mean is 1.
TEST(LearnedScalars, AreTheGeometricMeanOfMeasuredOverPredicted) {
  Scene scene(SixH100());
  Measured(scene, "a", "n0", "12.5");
  Llama(scene, "new", 2);
  const Json one = OutlookOf(scene);
  EXPECT_EQ(one["learnedPercent"], 125);
  EXPECT_EQ(one["learnedFromJobs"], 1);
  Scene two(SixH100());
  Measured(two, "a", "n0", "12.5");
  Measured(two, "b", "n1", "8");
  Llama(two, "new", 2);
  const Json both = OutlookOf(two);
  EXPECT_EQ(both["learnedPercent"], 100);
  EXPECT_EQ(both["learnedFromJobs"], 2);
  const auto step = [](const Json& outlook) { return outlook["stepMilliseconds"].get<double>(); };
  EXPECT_NEAR(step(one) / step(both), 1.25, 1e-3);
  EXPECT_NEAR(one["stepMillisecondsHigh"].get<double>() / step(one),
              both["stepMillisecondsHigh"].get<double>() / step(both), 1e-3);
  EXPECT_NEAR(both["tokensPerSecond"].get<double>() / one["tokensPerSecond"].get<double>(), 1.25,
              1e-2);
}

TEST(LearnedScalars, TheScalarOfTheTimeIsTakenOutFirst) {
  Scene scene(SixH100());
  Measured(scene, "a", "n0", "10", {{"learnedPercent", 125}});
  Llama(scene, "new", 2);
  EXPECT_EQ(OutlookOf(scene)["learnedPercent"], 125);
}

TEST(LearnedScalars, AreOfOneReleaseAcceleratorAndPrecision) {
  const auto learned = [](const std::function<void(api::TrainingJob&)>& change,
                          const Json& outlook = Json::object()) {
    Scene scene(SixH100());
    change(Measured(scene, "a", "n0", "12", outlook));
    Llama(scene, "new", 2).meta.annotations.Set(kReleaseAnnotation, "megatron-core-0.15");
    return OutlookOf(scene).contains("learnedPercent");
  };
  const auto same = [](api::TrainingJob& job) {
    job.meta.annotations.Set(kReleaseAnnotation, "megatron-core-0.15");
  };
  EXPECT_TRUE(learned(same));
  EXPECT_FALSE(learned([](api::TrainingJob&) {}));
  EXPECT_FALSE(learned(same, {{"accelerator", "B200"}}));
  EXPECT_FALSE(learned([&](api::TrainingJob& job) {
    same(job);
    job.model->transformer->precision = traffic::Precision::kFP8;
  }));
}

TEST(LearnedScalars, AreBoundedAndAbsurdMeasurementsDoNotCount) {
  const auto percent = [](const char* seconds) {
    Scene scene(SixH100());
    Measured(scene, "a", "n0", seconds);
    Llama(scene, "new", 2);
    const Json outlook = OutlookOf(scene);
    return outlook.contains("learnedPercent") ? outlook["learnedPercent"].get<int>() : 0;
  };
  EXPECT_EQ(percent("49"), 200);
  EXPECT_EQ(percent("2.1"), 50);
  for (const char* none : {"51", "1.9", "0", "-3", "12s", "", "inf", "nan"}) {
    EXPECT_EQ(percent(none), 0) << none;
  }
}

}  // namespace
}  // namespace weft::decide
