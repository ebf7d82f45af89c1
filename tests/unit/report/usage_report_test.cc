#include "operator/report/usage_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace weft::report {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr Period kWeek{.until = 1'000'000, .seconds = 7 * kDay};

Sample One(const std::string& space, const std::string& queue, double value,
           const std::string& product = "", const std::string& capacity = "OnDemand") {
  Sample sample{{{"workload_namespace", space}}, value};
  if (!queue.empty()) sample.labels["queue"] = queue;
  if (!product.empty()) sample.labels["product"] = product;
  sample.labels["capacity_type"] = capacity;
  return sample;
}

std::vector<Sample>& Of(UsageAnswers& answers, UsageQuery query) {
  return answers[static_cast<std::size_t>(query)];
}

UsageAnswers SomeAnswers() {
  UsageAnswers answers;
  Of(answers, UsageQuery::kAllocated) = {One("a", "q", 10, "NVIDIA-H100-80GB-HBM3"),
                                         One("a", "q", 5, "NVIDIA-H100-80GB-HBM3", "Spot"),
                                         One("b", "", 100, "NVIDIA-X9")};
  Of(answers, UsageQuery::kStranded) = {One("a", "q", 2, "NVIDIA-H100-80GB-HBM3")};
  Of(answers, UsageQuery::kBusy) = {One("a", "q", 12)};
  Of(answers, UsageQuery::kLost) = {One("a", "q", 1), One("gone", "q", 4)};
  Of(answers, UsageQuery::kFleet) = {
      {{{"state", "used"}}, 115}, {{{"state", "free"}}, 80}, {{{"state", "unavailable"}}, 5}};
  Of(answers, UsageQuery::kCovered) = {{{}, 3.0 * kDay}};
  return answers;
}

TEST(UsageReportTest, JoinsTheAnswersByNamespaceAndQueueMostAllocatedFirst) {
  const UsageReport report = MakeUsageReport(SomeAnswers(), kWeek, "", nullptr);
  EXPECT_EQ(nlohmann::json(UsageJson(report)), nlohmann::json::parse(R"({
    "since": "1970-01-05T13:46:40Z", "until": "1970-01-12T13:46:40Z", "coveredSeconds": 259200,
    "fleet": {"acceleratorHours": 200.0, "freeHours": 80.0, "unavailableHours": 5.0},
    "teams": [
      {"namespace": "b", "allocatedHours": 100.0, "strandedHours": 0.0, "lostHours": 0.0},
      {"namespace": "a", "queue": "q", "allocatedHours": 15.0, "busyHours": 12.0,
       "strandedHours": 2.0, "lostHours": 1.0},
      {"namespace": "gone", "queue": "q", "allocatedHours": 0.0, "strandedHours": 0.0,
       "lostHours": 4.0}],
    "total": {"allocatedHours": 115.0, "busyHours": 12.0, "strandedHours": 2.0, "lostHours": 5.0}
  })"));
}

TEST(UsageReportTest, CostsGoByProductAndCapacityTypeAndNameWhatHasNoPrice) {
  outlook::Prices prices;
  prices.currency = "USD";
  prices.prices = {
      {.accelerator = "H100", .on_demand = 3.0, .reserved = {}, .spot = 1.0, .source = ""}};
  const UsageReport report = MakeUsageReport(SomeAnswers(), kWeek, "", &prices);
  EXPECT_DOUBLE_EQ(report.teams[1].cost.value(), 35);  // 10 x 3 + 5 x 1
  EXPECT_EQ(report.unpriced, std::vector<std::string>{"NVIDIA-X9"});
  EXPECT_EQ(UsageJson(report)["currency"], "USD");
}

// A part costs its share of the whole accelerator, whatever numbers its name has.
TEST(UsageReportTest, PartsCostTheirShare) {
  outlook::Prices prices;
  prices.currency = "USD";
  for (const auto& [name, price] :
       {std::pair("A100-80GB", 7.0), std::pair("A100-40GB", 2.0), std::pair("NVIDIA-L4", 1.0)}) {
    prices.prices.push_back(
        {.accelerator = name, .on_demand = price, .reserved = {}, .spot = {}, .source = ""});
  }
  const auto cost = [&](const std::string& product) {
    UsageAnswers answers = SomeAnswers();
    Of(answers, UsageQuery::kAllocated) = {One("a", "q", 1, product)};
    const UsageReport report = MakeUsageReport(answers, kWeek, "", &prices);
    return report.unpriced.empty() ? report.teams[0].cost.value() : -1;
  };
  EXPECT_DOUBLE_EQ(cost("NVIDIA-A100-SXM4-80GB"), 7);
  EXPECT_DOUBLE_EQ(cost("NVIDIA-A100-SXM4-80GB MIG 3g.40gb"), 3);
  EXPECT_DOUBLE_EQ(cost("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"), 1);
  EXPECT_DOUBLE_EQ(cost("NVIDIA-L4 time slice 1/4"), 0.25);
  EXPECT_DOUBLE_EQ(cost("NVIDIA-L4 time slice"), -1) << "nobody knows how many share it";
}

TEST(UsageReportTest, OneNamespaceHasItsOwnTotal) {
  const UsageReport report = MakeUsageReport(SomeAnswers(), kWeek, "a", nullptr);
  ASSERT_EQ(report.teams.size(), 1U);
  EXPECT_EQ(report.space, "a");
  EXPECT_EQ(report.total.allocated, 15);
  EXPECT_EQ(report.all, 200);
}

TEST(UsageReportTest, WithoutSamplesNothingIsKnown) {
  UsageAnswers answers = SomeAnswers();
  Of(answers, UsageQuery::kCovered).clear();
  const UsageReport report = MakeUsageReport(answers, kWeek, "", nullptr);
  EXPECT_EQ(nlohmann::json(UsageJson(report)), nlohmann::json::parse(R"({
    "since": "1970-01-05T13:46:40Z", "until": "1970-01-12T13:46:40Z", "coveredSeconds": 0,
    "teams": []})"));
}

TEST(UsageReportTest, StepsAreAMinuteOfShortPeriodsAndGrowWithLongOnes) {
  EXPECT_EQ((Period{0, 600}).Step(), 60);
  EXPECT_EQ(kWeek.Step(), 300);
  EXPECT_EQ((Period{0, 365 * kDay}).Step(), 15'660);
}

TEST(UsageReportTest, MatchersAreInEverySelector) {
  for (std::size_t q = 0; q < kUsageQueries; ++q) {
    const std::string text = QueryText(static_cast<UsageQuery>(q), kWeek, "cluster=\"east\"");
    EXPECT_NE(text.find("cluster=\"east\"}"), std::string::npos) << text;
    EXPECT_EQ(QueryText(static_cast<UsageQuery>(q), kWeek, "").find("cluster"), std::string::npos);
  }
  EXPECT_EQ(QueryText(UsageQuery::kBusy, kWeek, ""),
            "sum_over_time((sum by (workload_namespace, queue) "
            "(team:weft_accelerators_busy:sum{}))[604799s:300s]) * 300 / 3600");
}

}  // namespace
}  // namespace weft::report
