#include <gtest/gtest.h>

#include "operator/fabric/health_signals.h"

namespace weft::fabric {
namespace {

TEST(HealthChangeTest, TheLastConditionOfAHealthMonitorIsTold) {
  NodeFacts node;
  EXPECT_FALSE(LastHealthChange(node));
  node.conditions = {{"Ready", "False", 90},       {"GpuMemWatch", "False", 80},
                     {"GpuXidError", "True", 50},  {"NVSwitchDown", "True", 60},
                     {"KernelReady", "False", 40}, {"XIDErrors", "True", 0}};
  const auto change = LastHealthChange(node);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->condition, "NVSwitchDown=True");
  EXPECT_EQ(change->since, 60);
}

TEST(HealthChangeTest, ANodeIsUnreadySinceItsConditionSaysSo) {
  NodeFacts node;
  EXPECT_EQ(UnreadySince(node), 0);
  node.conditions = {{"Ready", "True", 7}};
  EXPECT_EQ(UnreadySince(node), 0);
  node.conditions = {{"Ready", "Unknown", 7}};
  EXPECT_EQ(UnreadySince(node), 7);
}

}  // namespace
}  // namespace weft::fabric
