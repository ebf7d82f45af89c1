#include "operator/controllers/pod_events.h"

#include <gtest/gtest.h>

#include <memory>
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
  Result<Json> EventsOf(const api::ObjectMeta& pod) override {
    asked.push_back(pod.key.name);
    if (error) return *error;
    Json items = Json::array();
    if (pod.key.name == warned) {
      items.push_back({{"type", "Warning"},
                       {"reason", "FailedMount"},
                       {"message", "no volume"},
                       {"lastTimestamp", "2026-11-28T10:00:00Z"}});
    }
    Json list;
    list["items"] = std::move(items);
    return list;
  }
  std::vector<std::string> asked;
  std::string warned;
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
    job.conditions = {{"Placed", "True", "Placed", "", ""}};
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
  // One pass: what it says of the pods, and when it wants to look again.
  std::optional<std::int64_t> Look() {
    watch::JobObjects objects = objects_;
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

TEST_F(PodEventsTest, AsksAboutOnePodAfterTheOtherEverySevenSeconds) {
  EXPECT_EQ(Look(), kSilentSeconds);
  EXPECT_EQ(api_.asked, Words{});
  for (int i = 0; i < 30; ++i) {
    ++now_;
    EXPECT_TRUE(Look());
  }
  EXPECT_EQ(api_.asked, (Words{"llama-1-0", "llama-1-1", "llama-1-2", "llama-1-0"}));
  EXPECT_EQ(said_, (Words{"", "", ""}));
}

TEST_F(PodEventsTest, TellsTheReasonWhileThatPodWaits) {
  api_.warned = "llama-1-1";
  Look();
  now_ += kSilentSeconds;
  EXPECT_EQ(Look(), kAskSeconds);
  now_ += kAskSeconds;
  Look();
  EXPECT_EQ(said_, (Words{"", "FailedMount: no volume", ""}));
  now_ += 29;
  EXPECT_EQ(Look(), 1);
  EXPECT_EQ(api_.asked.size(), 2U);
  EXPECT_EQ(said_[1], "FailedMount: no volume");
  ++now_;
  Look();
  EXPECT_EQ(api_.asked.back(), "llama-1-1");
  // It has started; the others may wait for something else.
  Put(1, [](api::Pod& pod) { pod.phase = api::PodPhase::kRunning; });
  EXPECT_EQ(Look(), kAskSeconds);
  EXPECT_EQ(said_, (Words{"", "", ""}));
}

TEST_F(PodEventsTest, AsksAboutNoPodThatSaysWhyItWaitsOrIsNotBound) {
  Put(0, [](api::Pod& pod) { pod.waiting = "container t: ErrImagePull"; });
  Put(1, [](api::Pod& pod) { pod.node_name.clear(); });
  Put(2, [](api::Pod& pod) { pod.meta.labels = {{"weft.dev/job-uid", "u1"}}; });
  EXPECT_EQ(Look(), std::nullopt);
  now_ += 60;
  EXPECT_EQ(Look(), std::nullopt);
  EXPECT_EQ(api_.asked, Words{});
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
  for (int i = 0; i <= 60; ++i) {
    EXPECT_TRUE(Look());
    ++now_;
  }
  EXPECT_EQ(api_.asked.size(), 6U);  // after 3, 13, ... 53 s
  api_.error.reset();
  api_.warned = api_.asked.back() == "llama-1-2" ? "llama-1-0" : "llama-1-2";
  for (int i = 0; i < 31 && said_[0] + said_[2] == ""; ++i) {
    ++now_;
    Look();
  }
  EXPECT_EQ(said_[0] + said_[2], "FailedMount: no volume");
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
