#include "operator/controllers/pod_events.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

// Answers questions about events, and nothing else.
class EventApi final : public ApiWriter {
 public:
  Result<Json> Create(Kind, const Json&, bool) override { return No(); }
  Result<Json> Get(const Target&) override { return No(); }
  Result<Json> Patch(const Target&, const Json&) override { return No(); }
  Result<Json> PatchStatus(const Target&, const Json&) override { return No(); }
  Result<Json> PatchExactly(const Target&, const Json&) override { return No(); }
  Status Delete(const Target&) override { return No(); }
  Status Evict(const Target&) override { return No(); }
  Result<Json> WarningsIn(const std::string& space) override {
    asked.push_back(space);
    on_request();
    if (error) return *error;
    Json items = Json::array();
    for (const std::string& uid : warned) {
      items.push_back({{"type", "Warning"},
                       {"involvedObject", {{"uid", uid}}},
                       {"reason", "FailedMount"},
                       {"message", "no volume"},
                       {"lastTimestamp", "2026-11-28T10:00:00Z"}});
    }
    Json list;
    list["items"] = std::move(items);
    return list;
  }
  Result<Json> PullsIn(const std::string&) override {
    ++asked_of_pulls;
    if (error_of_pulls) return *error_of_pulls;
    Json items = Json::array();
    for (const std::string& uid : pulling) {
      items.push_back({{"type", "Normal"},
                       {"involvedObject", {{"uid", uid}, {"fieldPath", "spec.containers{t}"}}},
                       {"reason", "Pulling"},
                       {"message", "Pulling image \"x:1\""},
                       {"lastTimestamp", "2026-11-28T10:00:05Z"}});
    }
    Json list;
    list["items"] = std::move(items);
    return list;
  }
  std::vector<std::string> asked;
  std::size_t asked_of_pulls = 0;
  std::vector<std::string> warned, pulling;  // uids of pods
  std::optional<Error> error_of_pulls;
  std::function<void()> on_request = [] {};
  std::optional<Error> error;

 private:
  static Error No() { return {ErrorKind::kInvalid, "not asked for"}; }
};

class PodEventsTest : public ::testing::Test {
 protected:
  PodEventsTest() {
    api::TrainingJob job;
    job.meta.key = kJob;
    job.meta.uid = "u1";
    job.attempt = 1;
    job.conditions = {{"Placed", "True", "Placed", "", ""},
                      {"PodsReady", "False", "Starting", "every pod is bound", ""}};
    objects_.job = std::make_shared<const api::TrainingJob>(job);
    for (int i = 0; i < 3; ++i) Put(i, [](api::Pod&) {});
  }
  template <typename Change>
  void Put(int worker, const Change& change) {
    const std::string name = "llama-1-" + std::to_string(worker);
    api::Pod pod;
    pod.meta.key = {"ns", name};
    pod.meta.uid = "uid-" + name;
    pod.meta.labels = {{"weft.dev/job-uid", "u1"},
                       {"weft.dev/attempt", "1"},
                       {"weft.dev/worker-index", std::to_string(worker)}};
    pod.node_name = "n" + std::to_string(worker);
    pod.phase = api::PodPhase::kPending;
    change(pod);
    const auto at = static_cast<std::size_t>(worker);
    if (objects_.pods.size() <= at) objects_.pods.resize(at + 1);
    objects_.pods[at] = std::make_shared<const api::Pod>(std::move(pod));
  }
  // Worker 1 is of another job, which is looked at from now on.
  void OfAnotherJob(const std::string& space) {
    api::TrainingJob job = *objects_.job;
    job.meta.uid = "u2";
    job.meta.key = {space, "other"};
    objects_.job = std::make_shared<const api::TrainingJob>(job);
    Put(1, [](api::Pod& pod) {
      pod.meta.labels = {{"weft.dev/job-uid", "u2"}, {"weft.dev/attempt", "1"}};
    });
  }
  // One pass: what it says of the pods, and when it wants to look again.
  std::optional<std::int64_t> Look() {
    watch::JobObjects objects = objects_;
    events_.AskFor(objects);
    const auto left = events_.AddTo(objects);
    said_.clear();
    for (const auto& pod : objects.pods) said_.push_back(pod->waiting);
    return left;
  }
  using Words = std::vector<std::string>;

  UnixSeconds now_ = kStart;
  EventApi api_;
  std::vector<std::string> log_lines_;
  Log log_{{.write = [this](const std::string& line) { log_lines_.push_back(line); },
            .time = [] { return std::string(); }}};
  PodEvents events_{api_, log_, [this] { return now_; }};
  watch::JobObjects objects_;
  Words said_;
};

TEST_F(PodEventsTest, AsksEverySevenSecondsAndAfterAMinuteEveryThirty) {
  EXPECT_EQ(Look(), kSilentSeconds);
  EXPECT_EQ(api_.asked, Words{});
  for (int i = 0; i < 59; ++i) {
    ++now_;
    EXPECT_TRUE(Look());
  }
  EXPECT_EQ(api_.asked.size(), 9U);  // after 3, 10, ... 59 s
  EXPECT_EQ(api_.asked.front(), "ns");
  for (int i = 0; i < 60; ++i) {
    ++now_;
    EXPECT_TRUE(Look());
  }
  EXPECT_EQ(api_.asked.size(), 11U);
  EXPECT_EQ(said_, (Words{"", "", ""}));
}

TEST_F(PodEventsTest, TellsEveryReasonWhileThatPodWaits) {
  api_.warned = {"uid-llama-1-1", "uid-llama-1-2", "other"};
  Look();
  now_ += kSilentSeconds;
  EXPECT_EQ(Look(), kAskSeconds);
  EXPECT_EQ(said_, (Words{"", "FailedMount: no volume", "FailedMount: no volume"}));
  // It has its volume, and its init container runs.
  Put(1, [](api::Pod& pod) { pod.has_sandbox = true; });
  Look();
  EXPECT_EQ(said_, (Words{"", "", "FailedMount: no volume"}));
  Put(0, [](api::Pod& pod) { pod.phase = api::PodPhase::kRunning; });
  EXPECT_EQ(Look(), kAskSeldomSeconds);  // all that wait are told
  EXPECT_EQ(api_.asked.size(), 1U);
}

TEST_F(PodEventsTest, OneAnswerServesAllJobsOfTheNamespace) {
  api_.warned = {"uid-llama-1-1"};
  Look();
  now_ += kSilentSeconds;
  Look();
  OfAnotherJob("ns");
  EXPECT_EQ(Look(), kAskSeldomSeconds);
  EXPECT_EQ(said_[1], "FailedMount: no volume");
  EXPECT_EQ(api_.asked.size(), 1U);
}

TEST_F(PodEventsTest, TellsOfAPullFromTheSandboxToTheStart) {
  const std::string pulls = "container t: Pulling: image x:1 since 2026-11-28T10:00:05Z";
  api_.warned = api_.pulling = {"uid-llama-1-1"};
  for (const int other : {0, 2})
    Put(other, [](api::Pod& pod) { pod.ready = pod.has_sandbox = true; });
  const auto due = [](api::Pod& pod) { pod.has_sandbox = pod.starting = true; };
  Put(1, due);
  Look();
  EXPECT_EQ(said_, (Words{"", "", ""}));
  now_ += kSilentSeconds;
  EXPECT_EQ(Look(), kAskSeldomSeconds);
  EXPECT_EQ(said_, (Words{"", pulls, ""}));
  Put(1, [](api::Pod& pod) { pod.has_sandbox = true, pod.phase = api::PodPhase::kRunning; });
  EXPECT_EQ(Look(), std::nullopt);
  EXPECT_EQ(said_, (Words{"", "", ""}));
}

// A volume that was told of, or that took more than a minute, is there at last.
TEST_F(PodEventsTest, AsksOftenAgainWhenAPodHasItsSandbox) {
  for (const int other : {0, 2})
    Put(other, [](api::Pod& pod) { pod.ready = pod.has_sandbox = true; });
  api_.warned = {"uid-llama-1-1"};
  for (int i = 0; i < 90; ++i, ++now_) Look();
  EXPECT_EQ(said_[1], "FailedMount: no volume");
  Put(1, [](api::Pod& pod) { pod.has_sandbox = pod.starting = true; });
  Look();
  EXPECT_EQ(said_[1], "");
  api_.pulling = {"uid-llama-1-1"};
  for (int i = 0; i < kAskSeconds; ++i) ++now_, Look();
  EXPECT_EQ(said_[1], "container t: Pulling: image x:1 since 2026-11-28T10:00:05Z");
}

TEST_F(PodEventsTest, OneOfTwoAnswersTellsNothing) {
  api_.warned = {"uid-llama-1-1"};
  api_.error_of_pulls = Error{ErrorKind::kTransient, "no answer"};
  Look();
  now_ += kSilentSeconds;
  EXPECT_EQ(Look(), kUnansweredPauseSeconds);
  EXPECT_EQ(said_, (Words{"", "", ""}));
  api_.error_of_pulls.reset();
  now_ += kUnansweredPauseSeconds;
  Look();
  EXPECT_EQ(said_, (Words{"", "FailedMount: no volume", ""}));
  EXPECT_EQ(api_.asked_of_pulls, 2U);
}

TEST_F(PodEventsTest, AsksForNoPodThatSaysWhyItWaitsOrIsNotBoundOrRunsAnInitContainer) {
  Put(0, [](api::Pod& pod) { pod.waiting = "container t: ErrImagePull"; });
  Put(1, [](api::Pod& pod) { pod.has_sandbox = true; });
  Put(2, [](api::Pod& pod) { pod.meta.labels = {{"weft.dev/job-uid", "u1"}}; });
  EXPECT_EQ(Look(), std::nullopt);
  now_ += 60;
  EXPECT_EQ(Look(), std::nullopt);
  EXPECT_EQ(api_.asked, Words{});
}

TEST_F(PodEventsTest, AsksForNoJobThatIsNotBound) {
  api::TrainingJob job = *objects_.job;
  job.conditions.back().reason = "Binding";
  objects_.job = std::make_shared<const api::TrainingJob>(job);
  EXPECT_EQ(Look(), std::nullopt);
}

TEST_F(PodEventsTest, WithoutTheRightItSaysSoOnceAndAsksSeldom) {
  api_.error = Error{ErrorKind::kInvalid, "403: events is forbidden"};
  Look();
  for (int i = 0; i < 1'500; ++i) {
    ++now_;
    ASSERT_TRUE(Look());
  }
  EXPECT_EQ(api_.asked.size(), 3U);  // after 3, 603 and 1203 s
  EXPECT_EQ(log_lines_.size(), 1U);
  EXPECT_EQ(said_, (Words{"", "", ""}));
}

TEST_F(PodEventsTest, AServerThatDoesNotAnswerIsAskedEveryTenSeconds) {
  api_.error = Error{ErrorKind::kTransient, "no answer"};
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(Look());
    ++now_;
  }
  EXPECT_EQ(api_.asked.size(), 6U);  // after 3, 13, ... 53 s
  api_.error.reset();
  api_.warned = {"uid-llama-1-0"};
  now_ += kAskSeldomSeconds;
  Look();
  EXPECT_EQ(said_[0], "FailedMount: no volume");
}

// A namespace with very many events costs the API server much for each answer.
TEST_F(PodEventsTest, ANamespaceThatAnswersSlowlyIsAskedSeldomAndHoldsNoOtherUp) {
  api_.on_request = [this] { now_ += 5; };
  Look();
  now_ += kSilentSeconds;
  EXPECT_EQ(Look(), 4 * kPauseForEachSecond);
  api_.on_request = [] {};
  OfAnotherJob("team-b");
  EXPECT_EQ(Look(), kSilentSeconds);
  now_ += kSilentSeconds;
  Look();
  EXPECT_EQ(api_.asked, (Words{"ns", "team-b"}));
}

TEST_F(PodEventsTest, AnAnswerThatThrowsStopsNoLaterQuestion) {
  Look();
  now_ += kSilentSeconds;
  api_.on_request = [] { throw std::bad_alloc(); };
  EXPECT_THROW(Look(), std::bad_alloc);
  api_.on_request = [] {};
  Look();
  EXPECT_EQ(api_.asked.size(), 2U);
}

TEST_F(PodEventsTest, AClockThatIsPutBackStopsNothing) {
  Look();
  now_ += 10;
  Look();
  EXPECT_EQ(api_.asked.size(), 1U);
  now_ -= 100'000;
  for (int i = 0; i < 20; ++i) {
    ++now_;
    Look();
  }
  EXPECT_GE(api_.asked.size(), 2U);
}

}  // namespace
}  // namespace weft::controllers
