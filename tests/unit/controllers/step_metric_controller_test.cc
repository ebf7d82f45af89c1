#include "operator/controllers/step_metric_controller.h"

#include <deque>

#include "operator/predict/learned.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

// Answers from a list; the last answer stays.
class FakePrometheus final : public kube::Transport {
 public:
  Result<kube::Response> Send(const kube::Request& request) override {
    asked.push_back(request);
    if (during) during();
    Result<kube::Response> answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                const kube::Cancel&) override {
    return Error{ErrorKind::kTransient, "no streams"};
  }
  void SetValue(const std::string& value) {
    const Json one = {{"metric", Json::object()}, {"value", {1, value}}};
    const Json result = value.empty() ? Json::array() : Json::array({one});
    answers = {kube::Response{
        200, {}, Json{{"data", {{"resultType", "vector"}, {"result", result}}}}.dump()}};
  }

  std::deque<Result<kube::Response>> answers;
  std::vector<kube::Request> asked;
  std::function<void()> during;
};

class Notes final : public Recorder {
 public:
  void Record(const Happening& one) override {
    all.push_back(std::string(one.reason) + ": " + one.note);
  }
  std::vector<std::string> all;
};

class StepMetricControllerTest : public ::testing::Test {
 protected:
  StepMetricControllerTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey&, const Json& object) {
      if (object.is_null() || deaf_) return;
      if (kind == Kind::kTrainingJob) {
        store_.Put(*api::DecodeTrainingJob(object, "test", api::Reading::kServed));
      } else if (kind == Kind::kPlacement) {
        store_.Put(*api::DecodePlacement(object, "test", api::Reading::kServed));
      }
    };
    server_.SetValue("12.418");
  }

  // A job that has run for an hour, for which a step of 10 s was predicted.
  void Run(const std::string& name, const std::string& metric = "step_seconds") {
    Json job = JobObject("Custom");
    job["metadata"]["name"] = name;
    job["metadata"]["annotations"] = {{predict::kStepMetricAnnotation, metric}};
    ApplyPredicted(api_, job);
    api_.Edit(Kind::kTrainingJob, name, [&](Json& one) {
      one["status"] = {{"attempt", 1},
                       {"conditions",
                        {{{"type", "PodsReady"},
                          {"status", "True"},
                          {"reason", "AllReady"},
                          {"lastTransitionTime", FormatTime(kStart - 3600)}}}}};
    });
  }
  // 0: nothing.
  double Measured(const std::string& name) {
    return api_.At(Kind::kTrainingJob, name)["status"].value("measuredStepSeconds", 0.0);
  }
  double Counted(const std::string& result) {
    const std::string text = counters_.Text();
    const std::string series = "weft_step_metric_queries_total{result=\"" + result + "\"} ";
    const std::size_t at = text.find(series);
    return at == text.npos ? 0 : std::stod(text.substr(at + series.size()));
  }

  UnixSeconds now_ = kStart;
  bool deaf_ = false;  // the store does not see what changes
  watch::Store store_{[this] { return now_; }};
  FakeApi api_{[this] { return now_; }};
  Notes events_;
  std::vector<std::string> lines_;
  Log log_{{.least = LogLevel::kWarning,
            .write = [this](const std::string& line) { lines_.push_back(line); },
            .time = [] { return std::string(); }}};
  FakePrometheus server_;
  metrics::Counters counters_;
  StepMetricController::Options options_{
      .prometheus = &server_, .now = [this] { return now_; }, .counters = &counters_};
  StepMetricController controller_{store_, api_, events_, log_, options_};
};

TEST_F(StepMetricControllerTest, WritesWhatPrometheusSaysAndAsksOncePerWindow) {
  Run("a");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
  ASSERT_EQ(server_.asked.size(), 1U);
  EXPECT_EQ(server_.asked[0].query.at("query"),
            "avg(avg_over_time(step_seconds{namespace=\"ns\",pod=~\"a-1-[0-9]+\"}[300s]))");
  EXPECT_EQ(server_.asked[0].query.at("time"), std::to_string(kStart));
  EXPECT_EQ(server_.asked[0].timeout, std::chrono::seconds(10));
  now_ += 299;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(server_.asked.size(), 1U);
  now_ += 1;
  server_.SetValue("12.5");  // by less than one percent
  const std::size_t requests = api_.requests;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(server_.asked.size(), 2U);
  EXPECT_EQ(api_.requests, requests);
  now_ += 300;
  server_.SetValue("13");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 13);
  EXPECT_EQ(Counted("OK"), 3);
  EXPECT_TRUE(events_.all.empty());
  EXPECT_TRUE(lines_.empty());
}

TEST_F(StepMetricControllerTest, TheAuthorsMetadataStays) {
  Run("a");
  api_.Edit(Kind::kTrainingJob, "a", [](Json& job) {
    job["metadata"]["annotations"][predict::kMeasuredStepAnnotation] = "12.42";
  });
  const Json before = api_.At(Kind::kTrainingJob, "a")["metadata"]["annotations"];
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
  EXPECT_EQ(api_.At(Kind::kTrainingJob, "a")["metadata"]["annotations"], before);
}

TEST_F(StepMetricControllerTest, RecordsOneEventForAnUnusableMetric) {
  struct Case {
    const char *name, *metric, *value, *told;
  };
  const Case cases[] = {
      {"none", "m", "",
       "StepMetricMissing: Prometheus has no series m{namespace=\"ns\",pod=~\"none-1-[0-9]+\"} of"},
      {"wrong", "sum(m)", "1",
       "StepMetricInvalid: metadata.annotations[weft.dev/step-metric]: \"sum(m)\" must be the"},
      {"absurd", "m", "12418", "StepMetricInvalid: the mean of m{"},
      {"nan", "m", "NaN", "StepMetricInvalid: the mean of m{"},
  };
  for (const Case& one : cases) {
    Run(one.name, one.metric);
    server_.SetValue(one.value);
    events_.all.clear();
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_TRUE(controller_.Pass());
      now_ += 300;
    }
    ASSERT_EQ(events_.all.size(), 1U) << one.name;
    EXPECT_EQ(events_.all[0].substr(0, std::string(one.told).size()), one.told);
    EXPECT_EQ(Measured(one.name), 0);
    api_.DeleteByUser(Kind::kTrainingJob, one.name);
    store_.Remove<api::TrainingJob>({{"ns", one.name}});
  }
  EXPECT_EQ(Counted("Empty"), 3);
}

TEST_F(StepMetricControllerTest, ASeriesThatComesLaterIsReadWithinAMinute) {
  Run("a");
  server_.SetValue("");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(events_.all.size(), 1U);
  server_.SetValue("12.418");
  now_ += 59;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 0);
  now_ += 1;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
}

TEST_F(StepMetricControllerTest, WithoutPrometheusAnEventNamesTheFlag) {
  options_.prometheus = nullptr;
  StepMetricController off(store_, api_, events_, log_, options_);
  Run("a");
  EXPECT_TRUE(off.Pass());
  EXPECT_TRUE(off.Pass());
  EXPECT_EQ(events_.all, (std::vector<std::string>{
                             "StepMetricUnused: the metric step_seconds is not read, because "
                             "weft-operator has no --prometheus (prometheus.url of the Helm "
                             "chart)"}));
  EXPECT_EQ(Measured("a"), 0);
}

TEST_F(StepMetricControllerTest, WithoutAPredictionAnEventSaysSo) {
  Run("a");
  api_.Edit(Kind::kPlacement, "a-1", [](Json& one) { one["status"].erase("outlook"); });
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(events_.all, (std::vector<std::string>{
                             "StepMetricUnused: the metric step_seconds is not read, because no "
                             "step is predicted for the job: its Placement has no "
                             "status.outlook.stepMilliseconds"}));
  EXPECT_TRUE(server_.asked.empty());
}

TEST_F(StepMetricControllerTest, AServerThatDoesNotAnswerIsLoggedOnceAndLeftAloneForAMinute) {
  Run("a");
  Run("b");
  server_.answers = {Error{ErrorKind::kTransient, "http://prometheus: no answer"}};
  for (int pass = 0; pass < 4; ++pass) {
    EXPECT_EQ(controller_.Pass(), pass % 2 == 1);
    now_ += 30;
  }
  EXPECT_EQ(server_.asked.size(), 2U);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("Prometheus does not answer"), std::string::npos) << lines_[0];
  EXPECT_NE(lines_[0].find("http://prometheus: no answer"), std::string::npos) << lines_[0];
  EXPECT_EQ(Counted("Error"), 2);
  EXPECT_TRUE(events_.all.empty());
  server_.SetValue("12.418");
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
  EXPECT_EQ(Measured("b"), 12.42);
}

// A query that the server refuses is that of one job.
TEST_F(StepMetricControllerTest, ARefusedQueryHoldsNobodyElseUp) {
  Run("a");
  Run("b");
  server_.SetValue("12.418");
  server_.answers.push_front(kube::Response{422, {}, R"({"error": "too many samples"})"});
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a") + Measured("b"), 12.42);
  EXPECT_EQ(events_.all,
            std::vector<std::string>{"StepMetricRefused: Prometheus answered with status 422: too "
                                     "many samples"});
  now_ += 60;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(server_.asked.size(), 2U);  // each is asked once in five minutes
  now_ += 300;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
}

TEST_F(StepMetricControllerTest, AnEditInBetweenIsNotOverwritten) {
  Run("a");
  deaf_ = true;
  api_.Edit(Kind::kTrainingJob, "a",
            [](Json& job) { job["metadata"]["annotations"]["note"] = "mine"; });
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 0);
  deaf_ = false;
  api_.Edit(Kind::kTrainingJob, "a",
            [](Json& job) { job["metadata"]["annotations"]["note"] = "still mine"; });
  now_ += 60;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(StepMetricControllerTest, AWriteThatFailsIsLoggedOnceAndTriedAgain) {
  Run("a");
  api_.fail_at = api_.requests + 1;
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  EXPECT_FALSE(controller_.Pass());
  EXPECT_EQ(lines_.size(), 1U);
  now_ += 60;
  EXPECT_TRUE(controller_.Pass());
  EXPECT_EQ(Measured("a"), 12.42);
}

TEST_F(StepMetricControllerTest, APassHasABoundAndBeginsWithWhoWaitsLongest) {
  options_.most_queries = 2;
  StepMetricController few(store_, api_, events_, log_, options_);
  for (const char* name : {"a", "b", "c"}) Run(name);
  EXPECT_TRUE(few.Pass());
  EXPECT_EQ(Measured("a") + Measured("b") + Measured("c"), 2 * 12.42);
  now_ += 10;
  EXPECT_TRUE(few.Pass());
  EXPECT_EQ(Measured("c"), 12.42);
  EXPECT_EQ(server_.asked.size(), 3U);
}

TEST_F(StepMetricControllerTest, StopEndsTheQueryInProgress) {
  Run("a");
  Run("b");
  options_.least_pause = std::chrono::milliseconds::zero();
  StepMetricController running(store_, api_, events_, log_, options_);
  server_.answers = {Error{ErrorKind::kTransient, "not sent"}};
  server_.during = [&] {
    EXPECT_GT(server_.asked.back().until(), kube::BootClock::now());
    running.Stop();
    EXPECT_LT(server_.asked.back().until(), kube::BootClock::now());
  };
  running.Run();
  EXPECT_EQ(server_.asked.size(), 1U);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace weft::controllers
