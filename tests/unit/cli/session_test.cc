#include "operator/cli/session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::cli {
namespace {

TEST(Session, TheOrderFollowsTheInput) {
  InputArguments files, cluster;
  files.files = {"jobs.yaml"};
  cluster.cluster = true;
  using cluster::Order;
  EXPECT_EQ(OrderOf(files, ""), Order::kFile);
  EXPECT_EQ(OrderOf(files, "operator"), Order::kOperator);
  EXPECT_EQ(OrderOf(cluster, ""), Order::kOperator);
  EXPECT_EQ(OrderOf(cluster, "file"), Order::kFile);
}

TEST(Session, KeepsTheEntriesOfOneNamespace) {
  const auto entry = [](const char* space, const char* name) {
    static std::vector<std::unique_ptr<api::ObjectMeta>> metas;  // outlives the entries
    metas.push_back(std::make_unique<api::ObjectMeta>());
    metas.back()->key = {space, name};
    plan::PlanEntry one;
    one.workload.meta = metas.back().get();
    return one;
  };
  plan::PlanReport report;
  for (const char* name : {"a", "b", "c"}) {
    report.entries.push_back(entry(*name == 'b' ? "two" : "one", name));
  }
  report.decided = {2, 1, 0};
  plan::PlanReport all = report;
  KeepSpace("", all);
  EXPECT_EQ(all.entries.size(), 3U);
  KeepSpace("one", report);
  ASSERT_EQ(report.entries.size(), 2U);
  EXPECT_EQ(report.entries[0].workload.key().name, "a");
  EXPECT_EQ(report.entries[1].workload.key().name, "c");
  EXPECT_EQ(report.decided, (std::vector<std::size_t>{1, 0}));
}

TEST(Session, EncodesJsonAndYaml) {
  const nlohmann::ordered_json value = {{"b", "8"}, {"a", {1, 2}}};
  EXPECT_EQ(Encode(value, "json"), "{\n  \"b\": \"8\",\n  \"a\": [\n    1,\n    2\n  ]\n}\n");
  EXPECT_EQ(Encode(value, "yaml"), "b: \"8\"\na:\n  - 1\n  - 2\n");
}

TEST(Session, ErrorsHaveTheirExitCode) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Fail(Invalid("wrong")), kBadInput);
  EXPECT_EQ(Fail({ErrorKind::kTransient, "gone"}), kFailed);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "weft: wrong\nweft: gone\n");
}

TEST(Session, SaysWhenThereIsNothingToRead) {
  const auto cluster = ReadCluster({});
  ASSERT_FALSE(cluster);
  EXPECT_NE(cluster.error().message.find("-f FILE"), std::string::npos);
}

}  // namespace
}  // namespace weft::cli
