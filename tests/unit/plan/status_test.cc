#include "operator/plan/status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

using Json = nlohmann::ordered_json;

Json ListOf(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  return report ? PlacementList(cluster, *report) : Json(report.error().message);
}

TEST(PlacementList, HasTheStatusOfTheReference) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 2).model = testing::MeasuredData(1'000'000'000);
  const Json list = ListOf(scene);
  EXPECT_EQ(list["apiVersion"], "v1");
  EXPECT_EQ(list["kind"], "List");
  ASSERT_EQ(list["items"].size(), 1U);
  const Json& placement = list["items"][0];
  EXPECT_EQ(placement["metadata"], Json::parse(R"({"name": "j-1", "namespace": "ns",
      "labels": {"weft.dev/job-name": "j"}})"));
  EXPECT_EQ(placement["spec"]["workers"], 2);
  EXPECT_EQ(placement["spec"]["fabricName"], "default");
  // 16 ranks in one ring: 2 of its 16 steps leave a node, each 1 GB at 50 GB/s.
  EXPECT_EQ(placement["status"].dump(2), Json::parse(R"({
    "nodes": ["n0", "n1"],
    "spans": [{"level": "spine", "domains": 1}, {"level": "leaf", "domains": 1},
              {"level": "node", "domains": 2}],
    "traffic": {
      "flows": [
        {"axis": "Data", "level": "leaf", "bytes": "2G", "bytesPerGPU": "125M"},
        {"axis": "Data", "level": "node", "bytes": "14G", "bytesPerGPU": "875M"}],
      "crossNodeBytes": "2G",
      "bestCrossNodeBytes": "2G",
      "costOverLowerBoundPercent": 100,
      "spread": [{"axis": "Data", "level": "spine", "domains": 1},
                 {"axis": "Data", "level": "leaf", "domains": 1}],
      "communicationMilliseconds": 20},
    "conditions": [{"type": "Placed", "status": "True", "reason": "Placed",
                    "message": "1 spine, 1 leaf, 2 node"}]})")
                                             .dump(2));
}

TEST(PlacementList, WithoutAModelTrafficShowsOnlyTheBound) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 2);
  EXPECT_EQ(ListOf(scene)["items"][0]["status"]["traffic"].dump(),
            R"({"costOverLowerBoundPercent":100})");
}

TEST(PlacementList, ARefusalHasAConditionAndNoNodes) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 9);
  const Json status = ListOf(scene)["items"][0]["status"];
  EXPECT_FALSE(status.contains("nodes"));
  EXPECT_EQ(status["conditions"][0]["status"], "False");
  EXPECT_EQ(status["conditions"][0]["reason"], "InsufficientCapacity");
}

TEST(PlacementList, NoJobGivesAnEmptyList) {
  EXPECT_EQ(ListOf(testing::Scene(testing::FourNodes())).dump(),
            R"({"apiVersion":"v1","kind":"List","items":[]})");
}

TEST(CostOverLowerBoundPercent, IsRoundedUp) {
  EXPECT_EQ(CostOverLowerBoundPercent(0, 0), 100);
  EXPECT_EQ(CostOverLowerBoundPercent(7, 7), 100);
  EXPECT_EQ(CostOverLowerBoundPercent(1001, 1000), 101);
  EXPECT_EQ(CostOverLowerBoundPercent(1, 0), std::nullopt);
  const Int128 huge = static_cast<Int128>(1) << 126;
  EXPECT_EQ(CostOverLowerBoundPercent(huge, huge / 2), 200);
}

}  // namespace
}  // namespace weft::plan
