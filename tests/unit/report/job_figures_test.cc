#include "operator/report/job_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace weft::report {

void PrintTo(const JobEvents& events, std::ostream* out) {
  if (events.start)
    *out << "start(" << events.start->cause << ", " << events.start->wait_seconds << ") ";
  if (events.loss) {
    *out << "loss(" << events.loss->cause << ", " << events.loss->before_bound << ", "
         << events.loss->accelerator_seconds << ") ";
  }
  if (events.bind_seconds) *out << "bound(" << *events.bind_seconds << ") ";
  *out << events.ended << " " << events.end_reason;
}

namespace {

constexpr UnixSeconds kCreated = 1'000'000;

// A status whose conditions each changed at a time of their own.
struct Story {
  life::JobStatus status;

  Story& At(UnixSeconds time, std::string_view type, bool is, std::string_view reason) {
    life::SetCondition(status, {type, is, reason, ""}, kCreated + time);
    return *this;
  }
  Story& Attempt(std::int64_t attempt) {
    status.attempt = attempt;
    return *this;
  }
};

api::TrainingJob JobOf(const Story& story) {
  api::TrainingJob job;
  job.meta.creation_timestamp = FormatTime(kCreated);
  job.replicas = 4;
  job.accelerator.per_worker = 8;
  job.attempt = story.status.attempt;
  job.conditions = story.status.conditions;
  return job;
}

Story Waiting() { return Story().At(1, "Accepted", true, "Valid"); }
Story Placed() {
  return Waiting()
      .Attempt(1)
      .At(10, "Placed", true, "Placed")
      .At(10, "PodsReady", false, "Creating");
}
Story Binding() { return Placed().At(11, "PodsReady", false, "Binding"); }
Story Running() { return Binding().At(20, "PodsReady", true, "AllReady"); }
Story Undone() {
  return Running()
      .At(50, "Restarting", true, "NodeLost")
      .At(55, "Restarting", false, "NodeLost")
      .At(55, "Placed", false, "Restarting");
}

struct Case {
  const char* name;
  Story before, after;
  UnixSeconds now;  // after the job's creation
  JobEvents want;
};

class Events : public ::testing::TestWithParam<Case> {};

TEST_P(Events, AreSeen) {
  const Case& c = GetParam();
  EXPECT_EQ(EventsOf(JobOf(c.before), c.after.status, kCreated + c.now), c.want);
}

JobEvents Start(const char* cause, double waited) {
  JobEvents events;
  events.start = {cause, waited};
  return events;
}
JobEvents Loss(const char* cause, bool before_bound, double seconds) {
  JobEvents events;
  events.loss = {cause, before_bound, seconds};
  return events;
}
JobEvents Bound(double seconds) {
  JobEvents events;
  events.bind_seconds = seconds;
  return events;
}
JobEvents End(const char* ended, const char* reason) {
  JobEvents events;
  events.ended = ended;
  events.end_reason = reason;
  return events;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(OfAJob, Events, ::testing::ValuesIn(std::vector<Case>{
  {"AWriteThatOnlyCountsWorkersIsNone", Running(), Running(), 30, {}},
  {"TheFirstAttemptWaitedSinceCreation", Waiting(), Placed(), 10, Start("Submitted", 10)},
  {"ARefusalIsNoAttempt", Waiting(), Waiting().At(3, "Placed", false, "RequiredLevel"), 3, {}},
  {"BoundWholeIsBound", Binding(), Binding().At(14, "PodsReady", false, "Starting"), 14, Bound(4)},
  {"BoundAndReadyAtOnceIsBoundToo", Binding(), Running(), 20, Bound(10)},
  {"ANodeLostCostsAllAcceleratorsSincePlaced",
   Running(), Running().At(50, "Restarting", true, "NodeLost"), 50, Loss("NodeLost", false, 40 * 32)},
  {"ARefusedBindIsTold",
   Binding(), Binding().At(70, "Restarting", true, "BindRefused"), 70, Loss("BindRefused", true, 60 * 32)},
  {"TheNextAttemptWaitedSinceTheLastWasUndone",
   Undone(), Undone().Attempt(2).At(58, "Placed", true, "Placed"), 58, Start("NodeLost", 3)},
  {"AResumedJobWaitedSinceThen",
   Running().At(60, "Suspended", true, "Suspended").At(60, "Placed", false, "Suspended").At(90, "Suspended", false, "Resumed"),
   Running().Attempt(2), 95, Start("Resumed", 5)},
  {"TheEndIsToldOnce", Running(), Running().At(99, "Complete", true, "Succeeded"), 99, End("Complete", "Succeeded")},
  {"AnEndThatStandsIsNotToldAgain",
   Running().At(99, "Failed", true, "RestartsExhausted"), Running().At(99, "Failed", true, "RestartsExhausted"), 120, {}},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(JobFiguresTest, ReadsWhatAPlacementsStatusSays) {
  api::Placement placement;
  placement.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(R"({"status": {
    "spans": [{"level": "leaf", "domains": 2}],
    "traffic": {
      "flows": [{"axis": "Tensor", "level": "node", "bytes": "131.9T", "bytesPerGPU": "2.062T"}],
      "crossNodeBytes": "1.048T", "bestCrossNodeBytes": "524G",
      "costOverLowerBoundPercent": 104, "communicationMilliseconds": 5465}}})"));
  const TrafficFigures figures = ReadTraffic(placement);
  ASSERT_EQ(figures.flows.size(), 1U);
  EXPECT_EQ(figures.flows[0].axis, "Tensor");
  EXPECT_EQ(figures.flows[0].bytes, 131'900'000'000'000);
  ASSERT_EQ(figures.spans.size(), 1U);
  EXPECT_EQ(figures.spans[0].domains, 2);
  EXPECT_EQ(figures.cross_node_bytes, 1'048'000'000'000);
  EXPECT_EQ(figures.best_cross_node_bytes, 524'000'000'000);
  EXPECT_EQ(figures.cost_over_bound_percent, 104);
  EXPECT_EQ(figures.communication_milliseconds, 5465);
}

TEST(JobFiguresTest, ReadsWhatAPlacementsOutlookSays) {
  api::Placement placement;
  placement.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(R"({"status": {
    "outlook": {"memoryPerGPU": {"total": "61.2G", "capacity": "80.39G", "percent": 77},
                "stepMilliseconds": 5465, "mfuPercent": 41, "tokensPerSecond": 767000,
                "powerWatts": 29434}}})"));
  const OutlookFigures figures = ReadOutlook(placement);
  EXPECT_EQ(figures.step_milliseconds, 5465);
  EXPECT_EQ(figures.mfu_percent, 41);
  EXPECT_EQ(figures.tokens_per_second, 767'000);
  EXPECT_EQ(figures.watts, 29'434);
  EXPECT_EQ(figures.memory_bytes, 61'200'000'000);
  EXPECT_EQ(figures.memory_capacity, 80'390'000'000);
}

TEST(JobFiguresTest, AStatusOfAnotherShapeSaysNothing) {
  api::Placement placement;
  placement.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(R"({"status": {
    "spans": 3, "traffic": {"flows": [7, {"bytes": "many"}], "crossNodeBytes": {}},
    "outlook": {"stepMilliseconds": "5 s", "memoryPerGPU": 7}}})"));
  const TrafficFigures figures = ReadTraffic(placement);
  EXPECT_FALSE(ReadOutlook(placement).step_milliseconds);
  EXPECT_FALSE(ReadOutlook(placement).memory_bytes);
  EXPECT_TRUE(figures.flows.empty());
  EXPECT_TRUE(figures.spans.empty());
  EXPECT_FALSE(figures.cross_node_bytes);
}

TEST(JobFiguresTest, SizeClassesArePowersOfTwo) {
  const auto classes = [](std::vector<std::uint32_t> sizes) {
    std::string all;
    for (const std::uint32_t size : sizes) all += SizeClass(size) + " ";
    return all;
  };
  EXPECT_EQ(classes({1, 2, 3, 4, 5, 64, 65, 16'384}), "1 2 4 4 8 64 128 16384 ");
}

TEST(JobFiguresTest, OnlyWhatWaitsForNodesWantsThem) {
  EXPECT_TRUE(WantsNodes(JobOf(Waiting())));
  EXPECT_TRUE(WantsNodes(JobOf(Undone())));
  EXPECT_FALSE(WantsNodes(JobOf(Running())));
  EXPECT_FALSE(
      WantsNodes(JobOf(Running().At(90, "Placed", false, "x").At(99, "Failed", true, "x"))));
  api::TrainingJob suspended = JobOf(Waiting());
  suspended.suspend = true;
  EXPECT_FALSE(WantsNodes(suspended));
}

}  // namespace
}  // namespace weft::report
