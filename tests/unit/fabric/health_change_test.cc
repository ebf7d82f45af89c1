#include <gtest/gtest.h>

#include "operator/fabric/health_signals.h"

namespace weft::fabric {
namespace {

TEST(HealthChangeTest, TheFatalConditionsOfHealthMonitorsAreTold) {
  NodeFacts node;
  EXPECT_TRUE(HealthChanges(node).empty());
  node.conditions = {{"Ready", "False", 90},       {"GpuMemWatch", "False", 80},
                     {"GpuXidError", "True", 50},  {"NVSwitchDown", "True", 60},
                     {"KernelReady", "False", 40}, {"XIDErrors", "True", 0}};
  EXPECT_EQ(HealthChanges(node),
            (std::vector<HealthChange>{
                {"GpuXidError=True", 50}, {"NVSwitchDown=True", 60}, {"KernelReady=False", 40}}));
}

TEST(HealthChangeTest, AMonitorOfGpusIsKnownByItsConditions) {
  NodeFacts node;
  node.conditions = {
      {"Ready", "True"}, {"KernelDeadlock", "False"}, {"NetworkUnavailable", "False"}};
  EXPECT_FALSE(IsMonitored(node));
  for (const char* type : {"GpuMemWatch", "SysLogsGPUFallenOff", "XIDErrors", "NebiusGPUError",
                           "AcceleratedHardwareReady"}) {
    node.conditions = {{type, "False"}};
    EXPECT_TRUE(IsMonitored(node)) << type;
  }
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
