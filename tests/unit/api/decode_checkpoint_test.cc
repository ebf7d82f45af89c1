#include "operator/api/decode_checkpoint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace weft::api {
namespace {

using nlohmann::json;

struct Read {
  std::optional<CheckpointSpec> spec;
  std::string why;
};

Read ReadSpec(const std::string& text) {
  const json object = {{"checkpoint", json::parse(text)}};
  Decoding decoding(object, "x");
  Read read{DecodeCheckpoint(decoding.Root()["checkpoint"]), ""};
  read.why = decoding.why();
  return read;
}

JobRecord ReadStatus(const std::string& text) {
  const json object = json::parse(text);
  Decoding decoding(object, "x");
  JobRecord record;
  DecodeLosses(decoding.Root(), record);
  EXPECT_EQ(decoding.why(), "");
  return record;
}

TEST(DecodeCheckpointTest, ReadsTheSpec) {
  EXPECT_FALSE(ReadSpec("null").spec);
  const Read empty = ReadSpec("{}");
  EXPECT_EQ(empty.spec->interval_seconds, std::nullopt);
  EXPECT_EQ(empty.spec->stall_seconds, 60);
  const Read all =
      ReadSpec(R"({"intervalSeconds": 1800, "source": {"type": "Annotation"}, "stallSeconds": 5})");
  EXPECT_EQ(all.why, "");
  EXPECT_EQ(all.spec->interval_seconds, 1'800);
  EXPECT_EQ(all.spec->stall_seconds, 5);
}

TEST(DecodeCheckpointTest, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"intervalSeconds": 0})", "checkpoint.intervalSeconds: 0 must be at least 1"},
      {R"({"stallSeconds": 0})", "checkpoint.stallSeconds: 0 must be at least 1"},
      {R"({"onRequest": "Signal"})", "checkpoint.onRequest: unknown field"},
      {R"({"source": {"path": "/x"}})", "checkpoint.source.path: unknown field"},
      {R"({"source": {"type": "Metric", "name": "x"}})", "is not supported yet: Weft reads"},
      {R"({"source": {"type": "File", "path": "/x"}})", "is not supported yet: Weft reads"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_NE(ReadSpec(text).why.find(why), std::string::npos) << ReadSpec(text).why;
  }
}

TEST(DecodeCheckpointTest, ReadsTheStatus) {
  EXPECT_EQ(ReadStatus("{}"), JobRecord());
  const JobRecord record = ReadStatus(R"({
      "checkpoint": {"lastTime": "2026-08-22T10:00:00Z", "lastStep": 1200,
                     "source": "Annotation", "advisedIntervalSeconds": 465},
      "recovery": {"cause": "NodeLost", "worker": 5, "node": "a-05",
                   "since": "2026-08-22T10:20:30Z", "phase": "Starting"},
      "lost": {"workSeconds": 1230, "downSeconds": 22, "detectSeconds": 10, "replaceSeconds": 12,
               "keptSeconds": 36000, "failures": 1, "exact": false, "effectivePercent": 96.6,
               "countedUntil": "2026-08-22T10:20:52Z"}})");
  const UnixSeconds saved = *ParseTime("2026-08-22T10:00:00Z");
  EXPECT_EQ(record.checkpoint, (CheckpointRecord{saved, 1'200, 465}));
  EXPECT_EQ(record.recovery,
            (Recovery{"NodeLost", 5, "a-05", saved + 1'230, RecoveryPhase::kStarting}));
  LostTime lost;
  lost.kept = 36'000;
  lost.work = 1'230;
  lost.detect = 10;
  lost.replace = 12;
  lost.failures = 1;
  lost.exact = false;
  lost.until = saved + 1'252;
  EXPECT_EQ(record.lost, lost);
}

TEST(DecodeCheckpointTest, APhaseOfANewerVersionIsOneInTheMiddle) {
  const JobRecord record = ReadStatus(R"({"recovery": {"phase": "Thinking"}})");
  EXPECT_EQ(record.recovery->phase, RecoveryPhase::kReplacing);
}

}  // namespace
}  // namespace weft::api
