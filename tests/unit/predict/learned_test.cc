#include "operator/predict/learned.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "operator/plan/plan.h"
#include "operator/plan/snapshot.h"
#include "operator/plan/status.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft::predict {
namespace {

using Json = nlohmann::json;

testing::FabricShape SixH100() {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}, {8, 8, 8}});
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "H100";
  return shape;
}

api::TrainingJob& Llama(testing::Scene& scene, const std::string& name, std::uint32_t replicas) {
  api::TrainingJob& job = scene.Job(name, replicas);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->recomputation = traffic::Recomputation::kFull;
  job.parallelism.tensor = 8;
  job.parallelism.sharding = traffic::Sharding::kFull;
  return job;
}

// A job that runs on a node, for which a step of 10 s was predicted.
api::TrainingJob& Measured(testing::Scene& scene, const std::string& name, const std::string& node,
                           const std::string& seconds, Json outlook = Json::object()) {
  api::TrainingJob& job = Llama(scene, name, 1);
  job.meta.annotations.Set(kMeasuredStepAnnotation, seconds);
  api::Placement& placement = scene.Placement(name + "-1", 1, {node});
  Json told = {{"accelerator", "H100"}, {"stepMilliseconds", 10'000}};
  told.update(outlook);
  placement.raw = std::make_shared<const Json>(Json{{"status", {{"outlook", std::move(told)}}}});
  return job;
}

Json OutlookOf(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  if (!report) return report.error().message;
  return plan::PlacementOf(cluster, report->entries.back())["status"]["outlook"];
}

TEST(LearnedScalars, WithoutAMeasurementThereIsNone) {
  testing::Scene scene(SixH100());
  Llama(scene, "new", 2);
  EXPECT_FALSE(OutlookOf(scene).contains("learnedPercent"));
}

// 8 and 12.5 of 10 s are 0.8 and 1.25, whose geometric mean is 1.
TEST(LearnedScalars, AreTheGeometricMeanOfMeasuredOverPredicted) {
  testing::Scene scene(SixH100());
  Measured(scene, "a", "n0", "12.5");
  Llama(scene, "new", 2);
  const Json one = OutlookOf(scene);
  EXPECT_EQ(one["learnedPercent"], 125);
  EXPECT_EQ(one["learnedFromJobs"], 1);
  testing::Scene two(SixH100());
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
  testing::Scene scene(SixH100());
  Measured(scene, "a", "n0", "10", {{"learnedPercent", 125}});
  Llama(scene, "new", 2);
  EXPECT_EQ(OutlookOf(scene)["learnedPercent"], 125);
}

TEST(LearnedScalars, AreOfOneReleaseAcceleratorAndPrecision) {
  const auto learned = [](const std::function<void(api::TrainingJob&)>& change,
                          const Json& outlook = Json::object()) {
    testing::Scene scene(SixH100());
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
    testing::Scene scene(SixH100());
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

// The ConfigMap that the inputs have, with what their measured jobs add to it.
api::ConfigMap Stored(const api::Inputs& inputs) {
  const auto learned = LearnedScalars::From(inputs, "2026-11-23T10:15:00Z");
  api::ConfigMap map;
  map.place = "API server: ConfigMap weft-system/weft-learned-steps";
  map.meta.key = {"weft-system", api::kLearnedSteps};
  for (const auto& [key, entry] : learned.entries()) map.data[key] = ShowLearnedStep(entry);
  return map;
}

api::TrainingJob& WithUid(api::TrainingJob& job, const std::string& uid) {
  job.meta.uid = uid;
  return job;
}

constexpr const char* kH100 = "no-release_H100_BF16.ns";

TEST(LearnedSteps, OutliveTheJobThatWasMeasured) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  const api::ConfigMap map = Stored(scene.inputs);
  EXPECT_EQ(map.data.at(kH100),
            "percent: 125.00\nobservations: 1\nlastObserved: 2026-11-23T10:15:00Z\n"
            "counted:\n- ns/a-1 uid-a 12.5 125.00\n");
  testing::Scene later(SixH100());
  later.inputs.learned_steps = map;
  Llama(later, "new", 2);
  const Json outlook = OutlookOf(later);
  EXPECT_EQ(outlook["learnedStep"], kH100);
  EXPECT_EQ(outlook["learnedPercent"], 125);
  EXPECT_EQ(outlook["learnedFromJobs"], 1);
}

TEST(LearnedSteps, CountAJobOnce) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  scene.inputs.learned_steps = Stored(scene.inputs);
  const auto again = LearnedScalars::From(scene.inputs);
  EXPECT_TRUE(again.changed().empty());
  EXPECT_TRUE(again.observations().empty());
  EXPECT_EQ(again.entries().at(kH100).observations, 1U);
}

// A job of uid-a whose Placement of that name was measured at 12.5 s is in the ConfigMap.
LearnedStep After(const std::string& placement, const std::string& seconds,
                  const std::string& release = "", const std::string& key = kH100) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  WithUid(Measured(scene, "b", "n1", "8"), "uid-b");
  const api::ConfigMap map = Stored(scene.inputs);
  testing::Scene later(SixH100());
  later.inputs.learned_steps = map;
  api::TrainingJob& job = WithUid(Measured(later, "a", "n0", seconds), "uid-a");
  job.attempt = placement == "a-2" ? 2 : 1;
  later.inputs.placements.Edit(0).meta.key.name = placement;
  if (!release.empty()) job.meta.annotations.Set(kReleaseAnnotation, release);
  const auto learned = LearnedScalars::From(later.inputs);
  return learned.entries().at(key);
}

TEST(LearnedSteps, ALaterMeasurementOfTheSameAttemptReplacesTheEarlier) {
  const LearnedStep entry = After("a-1", "20");
  EXPECT_NEAR(entry.percent, std::sqrt(200.0 * 80), 1e-2);
  EXPECT_EQ(entry.observations, 2U);
  // Its own line, without that of the job that is gone.
  EXPECT_EQ(entry.counted, (std::vector<CountedStep>{{"ns/a-1", "uid-a", 20, 200}}));
}

TEST(LearnedSteps, AnAnnotationThatAnEarlierAttemptLeftDoesNotCount) {
  EXPECT_EQ(After("a-2", "12.5").observations, 2U);
}

TEST(LearnedSteps, AnotherAttemptThatIsMeasuredAnewIsAFurtherObservation) {
  const LearnedStep entry = After("a-2", "20");
  EXPECT_NEAR(entry.percent, std::cbrt(125.0 * 80 * 200), 1e-2);
  EXPECT_EQ(entry.observations, 3U);
  EXPECT_EQ(entry.counted, (std::vector<CountedStep>{{"ns/a-2", "uid-a", 20, 200}}));
}

TEST(LearnedSteps, AReleaseThatIsNamedLaterMovesTheObservation) {
  const LearnedStep from = After("a-1", "12.5", "nemo-2");
  EXPECT_NEAR(from.percent, 80, 1e-2);
  EXPECT_EQ(from.observations, 1U);
  const LearnedStep to = After("a-1", "12.5", "nemo-2", "nemo-2_H100_BF16.ns");
  EXPECT_NEAR(to.percent, 125, 1e-9);
  EXPECT_EQ(to.observations, 1U);
}

TEST(LearnedSteps, TheLastObservationThatMovesRemovesItsEntry) {
  testing::Scene scene(SixH100());
  api::TrainingJob& job = WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  scene.inputs.learned_steps = Stored(scene.inputs);
  job.meta.annotations.Set(kReleaseAnnotation, "nemo-2");
  const auto learned = LearnedScalars::From(scene.inputs);
  EXPECT_EQ(learned.changed(), (std::set<std::string>{kH100, "nemo-2_H100_BF16.ns"}));
  EXPECT_FALSE(learned.entries().contains(kH100));
}

TEST(LearnedSteps, AnEditWeighsAsMuchAsItSays) {
  testing::Scene scene(SixH100());
  scene.inputs.learned_steps = Stored(scene.inputs);
  scene.inputs.learned_steps->data[kH100] = "percent: 90\nobservations: 1000\n";
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  const auto learned = LearnedScalars::From(scene.inputs);
  EXPECT_NEAR(learned.entries().at(kH100).percent, 90.03, 1e-2);
  EXPECT_EQ(learned.entries().at(kH100).observations, 1001U);
}

TEST(LearnedSteps, AnEntryThatCannotBeReadIsNamedAndLeftAlone) {
  testing::Scene scene(SixH100());
  scene.inputs.learned_steps = Stored(scene.inputs);
  scene.inputs.learned_steps->data[kH100] = "percent: fast\n";
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  Llama(scene, "new", 2);
  EXPECT_FALSE(OutlookOf(scene).contains("learnedPercent"));
  const auto learned = LearnedScalars::From(scene.inputs);
  EXPECT_TRUE(learned.changed().empty());
  ASSERT_EQ(learned.observations().size(), 1U);
  EXPECT_EQ(learned.observations()[0].fate, LearnedScalars::Observation::Fate::kEntryUnreadable);
  const auto report = plan::Plan(scene.Build());
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_EQ(report->notes[0].reason, "LearnedStepInvalid");
  EXPECT_EQ(report->notes[0].text,
            "API server: ConfigMap weft-system/weft-learned-steps: data[no-release_H100_BF16.ns]: "
            "line 1: percent: \"fast\" must be a number from 20 to 500; no prediction uses this "
            "entry");
}

TEST(LearnedSteps, ReportsWhyAMeasurementDoesNotCount) {
  using Fate = LearnedScalars::Observation::Fate;
  const auto fate = [](const char* seconds) {
    testing::Scene scene(SixH100());
    Measured(scene, "a", "n0", seconds);
    const auto learned = LearnedScalars::From(scene.inputs);
    EXPECT_EQ(learned.observations().size(), 1U);
    return learned.observations().at(0).fate;
  };
  EXPECT_EQ(fate("12"), Fate::kCounted);
  EXPECT_EQ(fate("12s"), Fate::kInvalid);
  EXPECT_EQ(fate("12400"), Fate::kImplausible);
}

TEST(LearnedSteps, ASnapshotHasThemWithoutTheJobs) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  Llama(scene, "new", 2);
  const auto snapshot = plan::Snapshot(scene.Build(), cluster::Order::kFile);
  ASSERT_TRUE(snapshot);
  std::vector<std::string> data;
  for (const auto& object : snapshot->objects) {
    if (object["kind"] == "ConfigMap") data.push_back(object["data"][kH100]);
  }
  EXPECT_EQ(data, (std::vector<std::string>{"percent: 125.00\nobservations: 1\n"}));
}

TEST(LearnedSteps, AreBoundedInNumber) {
  testing::Scene scene(SixH100());
  scene.inputs.learned_steps = Stored(scene.inputs);
  std::string lines = "percent: 100\nobservations: 2000\ncounted:\n";
  for (std::size_t i = 0; i < LearnedScalars::kMostCounted; ++i) {
    lines += "- ns/x-1 uid-" + std::to_string(i) + " 10 100\n";
    if (i >= 1) WithUid(scene.Job("x" + std::to_string(i), 1), "uid-" + std::to_string(i));
  }
  scene.inputs.learned_steps->data["full_H100_BF16"] = lines;
  WithUid(Measured(scene, "a", "n0", "12"), "uid-a");
  const auto one_is_gone = LearnedScalars::From(scene.inputs);
  EXPECT_EQ(one_is_gone.changed(), (std::set<std::string>{"full_H100_BF16", kH100}));
  WithUid(scene.Job("x0", 1), "uid-0");
  const auto full = LearnedScalars::From(scene.inputs);
  EXPECT_TRUE(full.changed().empty());
  ASSERT_EQ(full.observations().size(), 1U);
  EXPECT_EQ(full.observations()[0].fate, LearnedScalars::Observation::Fate::kFull);
}

// Anybody may write a measured step.
TEST(LearnedSteps, TeachTheirOwnNamespaceOnly) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  Llama(scene, "new", 2).meta.key.space = "other";
  EXPECT_FALSE(OutlookOf(scene).contains("learnedPercent"));
  scene.inputs.learned_steps = Stored(scene.inputs);
  scene.inputs.learned_steps->data["no-release_H100_BF16"] = "percent: 90\n";
  const Json outlook = OutlookOf(scene);
  EXPECT_EQ(outlook["learnedStep"], "no-release_H100_BF16");
  EXPECT_EQ(outlook["learnedPercent"], 90);
}

// Of an earlier version: the entry was for all.
TEST(LearnedSteps, AnObservationOfAllMovesToItsNamespace) {
  testing::Scene scene(SixH100());
  WithUid(Measured(scene, "a", "n0", "12.5"), "uid-a");
  scene.inputs.learned_steps = Stored(scene.inputs);
  auto& data = scene.inputs.learned_steps->data;
  data["no-release_H100_BF16"] = data.at(kH100);
  data.erase(kH100);
  const auto learned = LearnedScalars::From(scene.inputs);
  EXPECT_EQ(learned.entries().size(), 1U);
  EXPECT_EQ(learned.entries().at(kH100).observations, 1U);
}

TEST(LearnedSteps, ANamespaceHasItsShareAndItsOldestGoesWithoutAJob) {
  testing::Scene scene(SixH100());
  scene.inputs.learned_steps = Stored(scene.inputs);
  auto& data = scene.inputs.learned_steps->data;
  const auto observed = [](std::size_t day, const std::string& uid) {
    const std::string two = (day < 10 ? "0" : "") + std::to_string(day);
    return "percent: 90\nlastObserved: 2026-11-" + two + "T00:00:00Z\ncounted:\n- ns/x-1 " + uid +
           " 10 100\n";
  };
  for (std::size_t i = 1; i <= LearnedScalars::kMostEntriesOfSpace; ++i) {
    data["r" + std::to_string(i) + "_H100_BF16.ns"] = observed(i, "uid-" + std::to_string(i));
  }
  data["r_H100_BF16.other"] = observed(1, "uid-other");
  WithUid(scene.Job("x", 1), "uid-1");  // the oldest entry's job exists
  WithUid(Measured(scene, "a", "n0", "12"), "uid-a");
  const auto learned = LearnedScalars::From(scene.inputs);
  EXPECT_EQ(learned.changed(), (std::set<std::string>{kH100, "r2_H100_BF16.ns"}));
  EXPECT_FALSE(learned.entries().contains("r2_H100_BF16.ns"));
  for (std::size_t i = 2; i <= LearnedScalars::kMostEntriesOfSpace; ++i) {
    WithUid(scene.Job("x" + std::to_string(i), 1), "uid-" + std::to_string(i));
  }
  const auto full = LearnedScalars::From(scene.inputs);
  EXPECT_TRUE(full.changed().empty());
  ASSERT_EQ(full.observations().size(), 1U);
  EXPECT_EQ(full.observations()[0].fate, LearnedScalars::Observation::Fate::kFull);
}

}  // namespace
}  // namespace weft::predict
