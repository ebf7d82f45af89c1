#include "operator/life/checkpoint_advice.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace weft::life {
namespace {

api::Placement On(std::size_t nodes) {
  api::Placement placement;
  for (std::size_t i = 0; i < nodes; ++i) placement.nodes.push_back("n" + std::to_string(i));
  placement.raw = std::make_shared<const nlohmann::json>(nlohmann::json{
      {"status", {{"spans", {{{"level", "leaf"}, {"domains", 2}}, {{"level", "node"}}}}}}});
  return placement;
}

TEST(CheckpointAdviceTest, IsDalysIntervalForAJobOfLlama3) {
  // 2,048 nodes: a failure every 11,131 s; a checkpoint stops 60, 10 or 1 s.
  EXPECT_EQ(AdvisedInterval(On(2'048), {}, 60), 1'116);
  EXPECT_EQ(AdvisedInterval(On(2'048), {}, 10), 465);
  EXPECT_EQ(AdvisedInterval(On(2'048), {}, 1), 149);  // 148.5
}

TEST(CheckpointAdviceTest, TakesTheRatesOfTheFabric) {
  // 10 nodes x 4 and 2 leaves x 30 are 100 failures in 1,000 days: one in 10 days.
  const std::vector<DomainRate> rates{{"node", 4}, {"leaf", 30}, {"spine", 99}};
  EXPECT_EQ(AdvisedInterval(On(10), rates, 60), AdvisedInterval(On(25), {{"node", 4}}, 60));
}

TEST(CheckpointAdviceTest, CountsANodeWithSeveralWorkersOnce) {
  api::Placement placement = On(8);
  for (std::string& node : placement.nodes) node = "n0";
  EXPECT_EQ(AdvisedInterval(placement, {}, 60), AdvisedInterval(On(1), {}, 60));
}

TEST(CheckpointAdviceTest, TakesTheNumberOfNodesFromTheStatus) {
  api::Placement placement = On(8);
  placement.raw = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"status", {{"spans", {{{"level", "node"}, {"domains", 2}}}}}}});
  EXPECT_EQ(AdvisedInterval(placement, {}, 60), AdvisedInterval(On(2), {}, 60));
}

TEST(CheckpointAdviceTest, AdvisesNothingIfNothingFails) {
  EXPECT_EQ(AdvisedInterval(On(8), {{"node", 0}}, 60), std::nullopt);
  EXPECT_EQ(AdvisedInterval(On(0), {}, 60), std::nullopt);
}

}  // namespace
}  // namespace weft::life
