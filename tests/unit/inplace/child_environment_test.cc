#include "operator/inplace/child_environment.h"

#include <gtest/gtest.h>

namespace weft::inplace {
namespace {

std::string ValueOf(const Variables& variables, std::string_view name) {
  for (const auto& [one, value] : variables) {
    if (one == name) return value;
  }
  return "none";
}

TEST(ChildEnvironment, GivesEachOfSixteenRevisionsAPort) {
  EXPECT_EQ(PortOf(29'500, 0), 29'500);
  EXPECT_EQ(PortOf(29'500, 15), 29'515);
  EXPECT_EQ(PortOf(29'500, 16), 29'500);
  EXPECT_EQ(ValueOf(VariablesOf("job-0", 29'500, 3), "PET_MASTER_PORT"), "29503");
  EXPECT_EQ(ValueOf(VariablesOf("job-0", 29'500, 3), "WEFT_REVISION"), "3");
  EXPECT_EQ(ValueOf(VariablesOf("job-0", 29'500, 3), "JAX_COORDINATOR_ADDRESS"), "job-0:29503");
  EXPECT_EQ(ValueOf(VariablesOf("fd00::1", 1, 0), "JAX_COORDINATOR_ADDRESS"), "[fd00::1]:1");
  EXPECT_EQ(ValueOf(VariablesOf("fd00::1", 1, 0), "MASTER_ADDR"), "fd00::1");
}

TEST(ChildEnvironment, ReplacesVariablesAndKeepsTheTokenBack) {
  const std::vector<std::string> got = WithVariables(
      {"PATH=/bin", "MASTER_PORT=1", "MASTER_PORT_2=2", "WEFT_RUN_TOKEN=secret", "ODD"},
      {{"MASTER_PORT", "9"}});
  EXPECT_EQ(got,
            (std::vector<std::string>{"PATH=/bin", "MASTER_PORT_2=2", "ODD", "MASTER_PORT=9"}));
}

}  // namespace
}  // namespace weft::inplace
