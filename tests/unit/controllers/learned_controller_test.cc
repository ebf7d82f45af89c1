#include "operator/controllers/learned_controller.h"

#include <sstream>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

constexpr const char* kEntry = "no-release_H100_BF16.ns";

class LearnedControllerTest : public ::testing::Test {
 protected:
  LearnedControllerTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      if (kind == Kind::kTrainingJob) {
        if (object.is_null()) return store_.Remove<api::TrainingJob>({key});
        store_.Put(*api::DecodeTrainingJob(object, "test", api::Reading::kServed));
      } else if (kind == Kind::kPlacement) {
        if (object.is_null()) return store_.Remove<api::Placement>({key});
        store_.Put(*api::DecodePlacement(object, "test", api::Reading::kServed));
      }
    };
  }

  // A job that runs and for which a step of 10 s was predicted.
  void Run(const std::string& name) {
    Json job = JobObject("Custom");
    job["metadata"]["name"] = name;
    job["spec"]["model"] = Json::parse(R"({"type": "Transformer", "transformer": {
        "parameters": 70000000000, "layers": 80, "hiddenSize": 8192, "attentionHeads": 64,
        "vocabularySize": 32000, "sequenceLength": 4096, "microBatchSize": 1,
        "globalBatchSize": 24}})");
    ApplyPredicted(api_, job);
  }
  void Measure(const std::string& name, const std::string& seconds) {
    api_.Edit(Kind::kTrainingJob, name, [&](Json& job) {
      job["metadata"]["annotations"][predict::kMeasuredStepAnnotation] = seconds;
    });
  }
  Json& Data() {
    data_ = api_.At(Kind::kConfigMap, api::kLearnedSteps)["data"];
    return data_;
  }
  std::string Line(std::size_t number) {
    std::istringstream text(Data()[kEntry].get<std::string>());
    std::string line;
    for (std::size_t i = 0; i <= number; ++i) std::getline(text, line);
    return line;
  }

  UnixSeconds now_ = kStart;
  Json data_;
  watch::Store store_{[this] { return now_; }};
  FakeApi api_{[this] { return now_; }};
  Events events_;
  std::vector<std::string> lines_;
  Log log_{{.write = [this](const std::string& line) { lines_.push_back(line); },
            .time = [] { return std::string(); }}};
  LearnedController::Options options_{.now = [this] { return now_; }, .space = "ns"};
  LearnedController controller_{store_, api_, events_, log_, options_};
};

TEST_F(LearnedControllerTest, WritesNothingWithoutAMeasurement) {
  Run("a");
  EXPECT_TRUE(controller_.Read());
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(api_.CountOf(Kind::kConfigMap), 0U);
  EXPECT_EQ(api_.requests, 1U);
}

TEST_F(LearnedControllerTest, CountsAJobOnceAndKeepsItWhenTheJobIsDeleted) {
  Run("a");
  Measure("a", "12.5");
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(Line(0), "percent: 125.00");
  EXPECT_EQ(Line(1), "observations: 1");
  EXPECT_EQ(Line(2), "lastObserved: " + FormatTime(kStart));
  const std::size_t requests = api_.requests;
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(api_.requests, requests);
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"StepLearned"}));
  api_.DeleteByUser(Kind::kTrainingJob, "a");
  EXPECT_TRUE(controller_.Read());
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(Line(0), "percent: 125.00");
  EXPECT_TRUE(store_.TakeSnapshot().inputs.learned_steps);
}

TEST_F(LearnedControllerTest, ANewLeaderCountsNoJobAgain) {
  Run("a");
  Measure("a", "12.5");
  EXPECT_TRUE(controller_.Count());
  store_.Remove<api::ConfigMap>({{"ns", api::kLearnedSteps}});
  watch::Store fresh([this] { return now_; });
  for (const auto& [key, object] : api_.objects()) {
    if (std::get<0>(key) == Kind::kTrainingJob) {
      fresh.Put(*api::DecodeTrainingJob(object, "test", api::Reading::kServed));
    } else if (std::get<0>(key) == Kind::kPlacement) {
      fresh.Put(*api::DecodePlacement(object, "test", api::Reading::kServed));
    }
  }
  LearnedController next(fresh, api_, events_, log_, options_);
  EXPECT_TRUE(next.Count());
  EXPECT_EQ(Line(1), "observations: 1");
}

TEST_F(LearnedControllerTest, AnEditStaysAndLaterJobsWeighAgainstIt) {
  Run("a");
  Measure("a", "12.5");
  EXPECT_TRUE(controller_.Count());
  api_.Edit(Kind::kConfigMap, api::kLearnedSteps, [](Json& map) {
    map["data"][kEntry] = "percent: 80\nobservations: 3\n" +
                          map["data"][kEntry].get<std::string>().substr(
                              map["data"][kEntry].get<std::string>().find("counted:"));
  });
  EXPECT_TRUE(controller_.Read());
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(Line(0), "percent: 80");
  Run("b");
  Measure("b", "20");
  // The edit was made after the store's copy: counting reads it first.
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(Line(0), "percent: 100.59");  // (0.8^3 * 2)^(1/4)
  EXPECT_EQ(Line(1), "observations: 4");
}

TEST_F(LearnedControllerTest, AWriteThatGotNoAnswerCountsOnce) {
  for (const auto fault : {FakeApi::Fault::kNotCarriedOut, FakeApi::Fault::kReplyLost}) {
    const std::string name = fault == FakeApi::Fault::kReplyLost ? "lost" : "not-done";
    const int before = api_.CountOf(Kind::kConfigMap) == 0 ? 0 : 1;
    Run(name);
    Measure(name, "12.5");
    api_.fail_at = api_.requests + 2;  // after the read
    api_.fault = fault;
    EXPECT_FALSE(controller_.Count());
    EXPECT_TRUE(controller_.Count());
    EXPECT_EQ(Line(1), "observations: " + std::to_string(before + 1));
  }
}

TEST_F(LearnedControllerTest, AnEntryThatCannotBeReadIsToldOnceAndKept) {
  api_.Apply(Kind::kConfigMap, {{"metadata", {{"name", api::kLearnedSteps}, {"namespace", "ns"}}},
                                {"data", {{kEntry, "percent: fast"}}}});
  Run("a");
  Measure("a", "12.5");
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_TRUE(controller_.Read());
    EXPECT_TRUE(controller_.Count());
  }
  EXPECT_EQ(Data()[kEntry], "percent: fast");
  EXPECT_EQ(events_.reasons,
            (std::vector<std::string>{"LearnedStepInvalid", "MeasuredStepInvalid"}));
  EXPECT_EQ(lines_.size(), 2U);
  api_.Edit(Kind::kConfigMap, api::kLearnedSteps,
            [](Json& map) { map["data"][kEntry] = "percent: 80"; });
  EXPECT_TRUE(controller_.Read());
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(Line(0), "percent: 100.00");
}

TEST_F(LearnedControllerTest, AnAbsurdMeasurementIsToldOnce) {
  Run("a");
  Measure("a", "12400");
  EXPECT_TRUE(controller_.Count());
  EXPECT_TRUE(controller_.Count());
  EXPECT_EQ(api_.CountOf(Kind::kConfigMap), 0U);
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"MeasuredStepInvalid"}));
}

}  // namespace
}  // namespace weft::controllers
