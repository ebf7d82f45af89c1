#include "operator/life/quota.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::life {
namespace {

api::ResourceQuota Quota(const std::string& spec, const std::string& hard,
                         const std::string& used) {
  const auto quota = api::DecodeResourceQuota(
      nlohmann::json::parse(R"({"metadata": {"name": "few", "namespace": "ns"}, "spec": )" + spec +
                            R"(, "status": {"hard": )" + hard + R"(, "used": )" + used + "}}"),
      "test");
  EXPECT_TRUE(quota) << quota.error().message;
  return *quota;
}

api::Pod Worker() {
  api::Pod pod;
  pod.pod.requests = {{"cpu", 1'500}, {"memory", 64'000'000'000}, {"nvidia.com/gpu", 8}};
  return pod;
}

std::string Of(const std::string& hard, const std::string& used, std::int64_t workers = 4) {
  return ExceededQuota(Worker(), workers, {Quota("{}", hard, used)}).value_or("");
}

TEST(QuotaTest, AcceptsQuotaThatSufficesForAllWorkers) {
  EXPECT_EQ(Of(R"({"pods": "4"})", R"({"pods": "0"})"), "");
  EXPECT_EQ(Of(R"({"count/pods": "9", "requests.nvidia.com/gpu": "64", "requests.cpu": "6",
                   "memory": "256G"})",
               R"({"count/pods": "5", "requests.nvidia.com/gpu": "32", "requests.cpu": "0",
                   "memory": "0"})"),
            "");
  EXPECT_EQ(Of("{}", "{}"), "");
}

TEST(QuotaTest, RefusesQuotaForSomeWorkersInTheApiServersWords) {
  EXPECT_EQ(Of(R"({"pods": "2"})", R"({"pods": "0"})"),
            "4 workers at once: exceeded quota: few, requested: pods=4, used: pods=0, limited: "
            "pods=2");
  EXPECT_EQ(Of(R"({"pods": "9", "requests.nvidia.com/gpu": "40"})",
               R"({"pods": "1", "requests.nvidia.com/gpu": "16"})"),
            "4 workers at once: exceeded quota: few, requested: requests.nvidia.com/gpu=32, used: "
            "requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=40");
}

TEST(QuotaTest, ProcessorsCountInThousandths) {
  EXPECT_EQ(Of(R"({"cpu": "5"})", R"({"cpu": "1500m"})", 3),
            "3 workers at once: exceeded quota: few, requested: cpu=4500m, used: cpu=1500m, "
            "limited: cpu=5");
  EXPECT_EQ(Of(R"({"requests.cpu": "6"})", R"({"requests.cpu": "1500m"})", 3), "");
}

TEST(QuotaTest, IgnoresQuotaThatOnlyTheApiServerCounts) {
  const std::string hard = R"({"limits.cpu": "1", "services": "0", "configmaps": "0"})";
  EXPECT_EQ(Of(hard, R"({"limits.cpu": "1", "services": "0", "configmaps": "0"})"), "");
  for (const char* spec :
       {R"({"scopes": ["NotTerminating"]})", R"({"scopeSelector": {"matchExpressions": []}})"}) {
    EXPECT_EQ(ExceededQuota(Worker(), 4, {Quota(spec, R"({"pods": "0"})", R"({"pods": "0"})")}),
              std::nullopt);
  }
}

TEST(QuotaTest, EveryQuotaOfTheNamespaceCounts) {
  const auto exceeded = ExceededQuota(Worker(), 4,
                                      {Quota("{}", R"({"pods": "9"})", R"({"pods": "0"})"),
                                       Quota("{}", R"({"memory": "255G"})", R"({"memory": "0"})")});
  EXPECT_EQ(exceeded,
            "4 workers at once: exceeded quota: few, requested: memory=256G, used: "
            "memory=0, limited: memory=255G");
}

TEST(QuotaTest, NoNumberIsTooLarge) {
  api::Pod pod;
  pod.pod.requests = {{"memory", 9'000'000'000'000'000'000}};
  EXPECT_TRUE(ExceededQuota(pod, 16'384, {Quota("{}", R"({"memory": "1P"})", R"({})")}));
}

}  // namespace
}  // namespace weft::life
