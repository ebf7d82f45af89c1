#include "operator/predict/step_metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "operator/api/json_reader.h"
#include "operator/predict/learned.h"
#include "tests/support/scene.h"

namespace weft::predict {
namespace {

using Json = nlohmann::json;
using State = StepMetric::State;

constexpr UnixSeconds kNow = 1'800'000'000;

// A job that has run for so long, for which a step of 10 s was predicted.
api::TrainingJob& Running(testing::Scene& scene, const std::string& name, UnixSeconds seconds,
                          const std::string& metric = "train_step_seconds") {
  api::TrainingJob& job = scene.Job(name, 1);
  job.meta.annotations.Set(kStepMetricAnnotation, metric);
  job.attempt = 1;
  job.conditions = {{"PodsReady", "True", "AllReady", "", FormatTime(kNow - seconds)}};
  api::Placement& placement = scene.Placement(name + "-1", 1, {"n0"});
  placement.raw = std::make_shared<const Json>(
      Json{{"status", {{"outlook", {{"accelerator", "H100"}, {"stepMilliseconds", 10'000}}}}}});
  return job;
}

testing::Scene OneNode() { return testing::Scene(testing::Leaves({{8}})); }

State StateOf(const testing::Scene& scene) {
  const auto metrics = StepMetrics(scene.inputs, kNow);
  EXPECT_EQ(metrics.size(), 1U);
  return metrics.at(0).state;
}

TEST(StepMetricOf, IsANameAndNothingElse) {
  const auto of = [](const std::string& text) {
    api::ObjectMeta meta;
    meta.annotations.Set(kStepMetricAnnotation, text);
    return StepMetricOf(meta);
  };
  for (const char* name : {"a", "_", "train:step_seconds:mean", "Step9"}) {
    const auto metric = of(name);
    ASSERT_TRUE(metric) << name;
    EXPECT_EQ(*metric, name);
  }
  for (const char* wrong : {"", "9steps", "step-seconds", "a{b=\"c\"}", "sum(a)", "a or b", "a\n",
                            "\xc3\xa9", "a[1y]", "{__name__=~\".*\"}"}) {
    EXPECT_FALSE(of(wrong)) << wrong;
  }
  EXPECT_FALSE(of(std::string(257, 'a')));
  EXPECT_EQ(of("rate(x[5m])").error().message,
            "metadata.annotations[weft.dev/step-metric]: \"rate(x[5m])\" must be the name of a "
            "metric, without labels or functions: at most 256 characters of [a-zA-Z0-9_:], not "
            "beginning with "
            "a digit");
  EXPECT_EQ(*StepMetricOf(api::ObjectMeta()), std::nullopt);
}

TEST(StepMetrics, OfAJobThatHasRunForTheSettlingTimeAndTheWindow) {
  constexpr UnixSeconds kEnough = kSettleSeconds + kWindowSeconds;
  for (const auto& [seconds, state] :
       {std::pair(kEnough, State::kRuns), std::pair(kEnough - 1, State::kWaits),
        std::pair(UnixSeconds{-60}, State::kWaits)}) {
    testing::Scene scene = OneNode();
    Running(scene, "llama", seconds);
    EXPECT_EQ(StateOf(scene), state) << seconds;
  }
}

TEST(StepMetrics, OfAnotherAttemptOrNotReadyWorkersWait) {
  testing::Scene next = OneNode();
  Running(next, "llama", 3600).attempt = 0;  // its next attempt has nodes already
  EXPECT_EQ(StateOf(next), State::kWaits);
  testing::Scene starting = OneNode();
  Running(starting, "llama", 3600).conditions[0].status = "False";
  EXPECT_EQ(StateOf(starting), State::kWaits);
  testing::Scene unplaced = OneNode();
  Running(unplaced, "llama", 3600);
  unplaced.inputs.placements.Edit(0).nodes.clear();
  EXPECT_EQ(StateOf(unplaced), State::kWaits);
}

TEST(StepMetrics, WithoutAPredictionAreUnused) {
  testing::Scene scene = OneNode();
  Running(scene, "llama", 0);
  scene.inputs.placements.Edit(0).raw = std::make_shared<const Json>(Json::object());
  EXPECT_EQ(StateOf(scene), State::kUnused);
}

TEST(StepMetrics, OfAWrongNameSaysWhy) {
  testing::Scene scene = OneNode();
  Running(scene, "llama", 0, "sum(x)");
  const auto metrics = StepMetrics(scene.inputs, kNow);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].state, State::kInvalid);
  EXPECT_NE(metrics[0].why.find("\"sum(x)\" must be the name of a metric"), std::string::npos);
}

TEST(StepMetrics, LeaveOutFinishedJobsAndJobsWithoutTheAnnotation) {
  testing::Scene scene = OneNode();
  Running(scene, "done", 3600).conditions.push_back({"Complete", "True", "", "", ""});
  scene.Job("plain", 1);
  EXPECT_TRUE(StepMetrics(scene.inputs, kNow).empty());
}

TEST(QueryText, AsksForTheMeanOfTheAttemptsPods) {
  testing::Scene scene = OneNode();
  api::TrainingJob& job = Running(scene, "llama", 3600);
  EXPECT_EQ(QueryText(StepMetrics(scene.inputs, kNow).at(0)),
            "avg(avg_over_time(train_step_seconds{namespace=\"" + job.meta.key.space +
                "\",pod=~\"llama-1-[0-9]+\"}[300s]))");
}

// The API server allows no such names; a query must not depend on that.
TEST(QueryText, QuotesNames) {
  api::TrainingJob job;
  job.meta.key = {"a\"b\\c\nd", "x.y\"z"};
  job.attempt = 7;
  EXPECT_EQ(SeriesText({&job, State::kRuns, "", "m", 10}),
            "m{namespace=\"a\\\"b\\\\c\\nd\",pod=~\"x\\\\.y\\\"z-7-[0-9]+\"}");
}

// A job with a metric, of which this was read last; null: nothing.
api::TrainingJob Read(const Json& seconds) {
  api::TrainingJob job;
  job.meta.annotations.Set(kStepMetricAnnotation, "m");
  job.raw = api::MakeRaw({{"status", {{"measuredStepSeconds", seconds}}}});
  return job;
}

TEST(ReadStep, WritesFourDigitsOfWhatDiffersByOverOnePercent) {
  struct Case {
    double value;
    Json before;
    std::optional<double> seconds;
  };
  const std::vector<Case> cases = {{12.41849, nullptr, 12.42}, {12.41849, 12.4, {}},
                                   {12.5241, 12.4, 12.52},     {12.5239, 12.4, {}},
                                   {2.00049, nullptr, 2},      {49.996, nullptr, 50},
                                   {11, "wrong", 11},          {9.899, 10, 9.899}};
  for (const Case& one : cases) {
    const api::TrainingJob job = Read(one.before);
    const StepReading reading = ReadStep({&job, State::kRuns, "", "m", 10}, one.value);
    EXPECT_EQ(reading.seconds, one.seconds) << one.value;
    EXPECT_EQ(reading.reason + reading.note, "") << one.value;
  }
  api::TrainingJob job;
  EXPECT_EQ(ReadStep({&job, State::kRuns, "", "m", 123'456}, 123'456).seconds, 123'500);
  EXPECT_EQ(ReadStep({&job, State::kRuns, "", "m", 0.004}, 0.00412345).seconds, 0.004123);
}

// What the author says counts until the metric was read, and again when the job names none.
TEST(MeasuredStepSeconds, OfAJobWithAMetricIsWhatWasRead) {
  api::TrainingJob job = Read(12.4);
  EXPECT_EQ(*MeasuredStepSeconds(job), 12.4);
  job.meta.annotations.Set(kMeasuredStepAnnotation, "9");
  EXPECT_EQ(*MeasuredStepSeconds(job), 12.4);
  job.meta.annotations = TextMap();
  EXPECT_EQ(*MeasuredStepSeconds(job), std::nullopt);
  job.meta.annotations.Set(kMeasuredStepAnnotation, "9");
  EXPECT_EQ(*MeasuredStepSeconds(job), 9);
  job = Read(nullptr);
  job.meta.annotations.Set(kMeasuredStepAnnotation, "9");
  EXPECT_EQ(*MeasuredStepSeconds(job), 9);
}

TEST(ReadStep, WarnsOfWhatIsNoStep) {
  api::TrainingJob job;
  job.meta.key = {"team-a", "llama"};
  job.attempt = 2;
  const StepMetric metric{&job, State::kRuns, "", "step_ms", 10};
  const std::string window =
      "step_ms{namespace=\"team-a\",pod=~\"llama-2-[0-9]+\"} of the last 5 minutes";
  const StepReading none = ReadStep(metric, std::nullopt);
  EXPECT_EQ(none.seconds, std::nullopt);
  EXPECT_EQ(none.reason, kStepMetricMissing);
  EXPECT_EQ(none.note,
            "Prometheus has no series " + window +
                "; does it scrape the workers' pods, with the labels namespace and pod?");
  for (const double value : {0.0, -3.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const StepReading reading = ReadStep(metric, value);
    EXPECT_EQ(reading.seconds, std::nullopt) << value;
    EXPECT_EQ(reading.reason, kStepMetricInvalid) << value;
    EXPECT_EQ(reading.note, "the mean of " + window +
                                " is not a number of seconds above 0; the measured step is not "
                                "changed");
  }
  const StepReading absurd = ReadStep(metric, 12'400);
  EXPECT_EQ(absurd.seconds, std::nullopt);
  EXPECT_EQ(absurd.reason, kStepMetricInvalid);
  EXPECT_EQ(absurd.note,
            "the mean of " + window +
                " is 12400, and the predicted step is 10 s; it does not count, because it differs "
                "by more than a factor of 5: is the metric a gauge of the time of one optimizer "
                "step in seconds?");
}

}  // namespace
}  // namespace weft::predict
