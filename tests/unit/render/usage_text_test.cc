#include "operator/render/usage_text.h"

#include <gtest/gtest.h>

namespace weft::render {
namespace {

using report::TeamUsage;
using report::UsageReport;

constexpr std::int64_t kDay = 86'400;

UsageReport TwoTeams() {
  UsageReport report;
  report.period = {.until = 1'000'000, .seconds = 7 * kDay};
  report.covered_seconds = 7 * kDay;
  report.all = 1'000;
  report.free = 200;
  report.unavailable = 50;
  report.teams = {{"team-a", "main", 700, 560, 12.34, 3, 2'100}, {"team-b", "", 50, {}, 0, 0, {}}};
  report.total = {"", "", 750, 560, 12.34, 3, 2'100};
  report.currency = "USD";
  return report;
}

TEST(UsageTextTest, ShowsTheFleetAndATable) {
  EXPECT_EQ(
      UsageText(TwoTeams(), {}),
      R"(From 1970-01-05 13:46 UTC to 1970-01-12 13:46 UTC. The fleet had 1,000 GPU-hours: 75 % allocated,
20 % free, 5 % free on nodes that are cordoned or unusable.

NAMESPACE  QUEUE  GPU-HOURS  OF FLEET  BUSY  STRANDED  LOST  COST USD
team-a     main         700      70 %  80 %      12.3   3.0     2,100
team-b     -           50.0       5 %     -       0.0   0.0         -
(total)                 750      75 %  75 %      12.3   3.0     2,100

BUSY is the share of the GPU-hours in which DCGM saw the GPUs busy. STRANDED: GPU-hours that were
free on nodes whose other GPUs the team held, so that no job of whole nodes could use them. LOST, at
most: GPU-hours of attempts of TrainingJobs that were taken down; the work since the last checkpoint
is lost, and Weft does not see checkpoints. Restarts of other kinds of jobs are not counted.
)");
}

TEST(UsageTextTest, SaysWhatPrometheusLacks) {
  UsageReport report = TwoTeams();
  report.covered_seconds = 2 * kDay;
  report.teams.pop_back();
  report.teams[0].busy.reset();
  report.total.busy.reset();
  report.unpriced = {"NVIDIA-X9"};
  const std::string text = UsageText(report, {.columns = 1'000});
  EXPECT_NE(text.find("; Prometheus has samples of 2 d of it."), std::string::npos) << text;
  EXPECT_NE(text.find("no samples of DCGM's exporter"), std::string::npos) << text;
  EXPECT_NE(text.find("Not in the table of prices, so counted as 0: NVIDIA-X9."),
            std::string::npos);
  EXPECT_EQ(text.find("(total)"), std::string::npos);
}

TEST(UsageTextTest, SaysThatThereIsNothing) {
  UsageReport report = TwoTeams();
  report.covered_seconds = 0;
  EXPECT_EQ(
      UsageText(report, {.columns = 1'000}),
      "Prometheus has no samples of a leading weft-operator from 1970-01-05 13:46 UTC to "
      "1970-01-12 13:46 UTC. Query weft_leader there. If the answer is empty, Prometheus does not "
      "scrape the operator (the chart's values metrics.serviceMonitor and "
      "metrics.podMonitor), or --match excludes its series. Otherwise choose another time "
      "with --since and --until.\n");
  report.covered_seconds = kDay;
  report.teams.clear();
  EXPECT_NE(UsageText(report, {}).find("\nNo pod held an accelerator.\n"), std::string::npos);
  report.space = "nope";
  EXPECT_NE(UsageText(report, {}).find("\nNamespace nope used no accelerator.\n"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::render
