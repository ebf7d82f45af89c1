#include "operator/life/job_status.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace weft::life {
namespace {

using Json = nlohmann::json;

// The printer columns of a Placement with that status, after those of an earlier attempt.
api::Summary SummaryOf(const Json& status) {
  api::Placement placement;
  placement.raw = std::make_shared<const Json>(Json{{"status", status}});
  api::Summary summary = {"3/4", "9 leaf", "1T", "101 %", "9 s", "9", "9 %"};
  Summarise(placement, summary);
  return summary;
}

TEST(JobStatusTest, ThePrinterColumnsAreThoseOfThePlacement) {
  const Json status = Json::parse(R"({
      "spans": [{"level": "leaf", "domains": 1}, {"level": "node", "domains": 4}],
      "traffic": {"crossNodeBytes": "144G", "bestCrossNodeBytes": "120G"},
      "outlook": {"stepMilliseconds": 5449, "tokensPerSecond": 1234567,
                  "memoryPerGPU": {"percent": 83}}})");
  EXPECT_EQ(SummaryOf(status),
            (api::Summary{"3/4", "1 leaf, 4 node", "144G", "120 %", "5.4 s", "1234567", "83 %"}));
}

TEST(JobStatusTest, LeavesFieldsEmptyThatThePlacementLacks) {
  EXPECT_EQ(SummaryOf(Json::object()), (api::Summary{"3/4", "", "", "", "", "", ""}));
}

TEST(JobStatusTest, LostTimeIsWrittenWithItsSumAndItsShare) {
  JobStatus status;
  EXPECT_FALSE(EncodeJobStatus(status).contains("lost"));
  api::LostTime lost;
  lost.kept = 36'000;
  lost.work = 1'230;
  lost.detect = 10;
  lost.replace = 12;
  lost.failures = 1;
  lost.until = ParseTime("2026-08-22T10:20:52Z");
  status.record.lost = lost;
  status.record.checkpoint = api::CheckpointRecord{ParseTime("2026-08-22T10:00:00Z"), 1'200, 465};
  status.record.recovery =
      api::Recovery{"NodeLost", 5, "a-05", *lost.until - 22, api::RecoveryPhase::kStarting};
  const Json json = EncodeJobStatus(status);
  EXPECT_EQ(json["lost"], Json::parse(R"({
      "workSeconds": 1230, "downSeconds": 22, "detectSeconds": 10, "replaceSeconds": 12,
      "startSeconds": 0, "loadSeconds": 0, "keptSeconds": 36000, "failures": 1, "exact": true,
      "effectivePercent": 96.6, "countedUntil": "2026-08-22T10:20:52Z"})"));
  EXPECT_EQ(json["checkpoint"], Json::parse(R"({
      "lastTime": "2026-08-22T10:00:00Z", "lastStep": 1200, "source": "Annotation",
      "advisedIntervalSeconds": 465})"));
  EXPECT_EQ(json["recovery"], Json::parse(R"({
      "cause": "NodeLost", "worker": 5, "node": "a-05", "since": "2026-08-22T10:20:30Z",
      "phase": "Starting"})"));
}

TEST(JobStatusTest, AStepIsShortText) {
  const auto text = [](std::int64_t milliseconds) {
    return SummaryOf({{"outlook", {{"stepMilliseconds", milliseconds}}}}).step;
  };
  EXPECT_EQ(text(0), "0 ms");
  EXPECT_EQ(text(999), "999 ms");
  EXPECT_EQ(text(1000), "1.0 s");
  EXPECT_EQ(text(99'999), "99.9 s");
  EXPECT_EQ(text(100'000), "100 s");
}

TEST(JobStatusTest, TheReasonIsThatOfWhatKeepsTheJobFromRunning) {
  const auto reason = [](std::vector<api::Condition> conditions) {
    JobStatus status;
    status.conditions = std::move(conditions);
    return EncodeJobStatus(status).value("reason", "none");
  };
  EXPECT_EQ(reason({{"Placed", "False", "QuotaPending", "", ""}}), "QuotaPending");
  EXPECT_EQ(reason({{"Placed", "True", "Placed", "", ""}}), "none");
  EXPECT_EQ(reason({{"Placed", "True", "NotWritten", "", ""}, {"PodsReady", "True", "", "", ""}}),
            "NotWritten");
  EXPECT_EQ(reason({{"Restarting", "True", "NodeLost", "", ""},
                    {"Placed", "False", "InsufficientCapacity", "", ""}}),
            "InsufficientCapacity");
  EXPECT_EQ(reason({{"Accepted", "False", "Invalid", "", ""}}), "Invalid");
  EXPECT_EQ(reason({{"Placed", "False", "Undone", "", ""}, {"Failed", "True", "Deadline", "", ""}}),
            "Deadline");
  EXPECT_EQ(reason({{"Placed", "False", "Undone", "", ""}, {"Complete", "True", "Done", "", ""}}),
            "none");
}

}  // namespace
}  // namespace weft::life
