#include "operator/controllers/log.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::controllers {
namespace {

// What one line of that kind looks like.
std::string LineOf(bool json, const std::string& value) {
  std::string written;
  Log log({.least = LogLevel::kInfo,
           .json = json,
           .write = [&](const std::string& line) { written += line; },
           .time = [] { return std::string("2026-08-22T10:00:00Z"); }});
  log.Debug("not this", {});
  log.Info("placed", {{"for", value}});
  return written;
}

TEST(LogTest, ALineIsASentenceWithFields) {
  EXPECT_EQ(LineOf(false, "team-a/x"), "2026-08-22T10:00:00Z info placed for=team-a/x\n");
  EXPECT_EQ(LineOf(true, "team-a/x"),
            R"({"time":"2026-08-22T10:00:00Z","level":"info","message":"placed","for":"team-a/x"})"
            "\n");
}

TEST(LogTest, EscapesLineBreaksInFieldValues) {
  EXPECT_EQ(LineOf(false, "x\n2026 info forged=1"),
            "2026-08-22T10:00:00Z info placed for=\"x\\n2026 info forged=1\"\n");
  EXPECT_EQ(LineOf(false, ""), "2026-08-22T10:00:00Z info placed for=\"\"\n");
}

TEST(LogTest, BytesThatAreNoTextDoNotBreakJson) {
  EXPECT_EQ(LineOf(true, "\xff").find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace weft::controllers
