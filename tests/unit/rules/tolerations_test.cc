#include "operator/rules/tolerations.h"

#include "gtest/gtest.h"

namespace weft::rules {
namespace {

struct Case {
  std::string name;
  Toleration toleration;
  fabric::Taint taint;
  bool want = false;
};

class ToleratesTest : public ::testing::TestWithParam<Case> {};

TEST_P(ToleratesTest, AsKubeSchedulerDoes) {
  EXPECT_EQ(Tolerates(GetParam().toleration, GetParam().taint), GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, ToleratesTest, ::testing::ValuesIn(std::vector<Case>{
  // name                                    key, op, value, effect                  key, value, effect
  {"EqualCoversTheSameValue",                {"gpu", "Equal", "a", "NoSchedule"},    {"gpu", "a", "NoSchedule"}, true},
  {"EqualLeavesAnotherValue",                {"gpu", "Equal", "a", "NoSchedule"},    {"gpu", "b", "NoSchedule"}, false},
  {"EqualLeavesAnotherKey",                  {"gpu", "Equal", "a", "NoSchedule"},    {"tpu", "a", "NoSchedule"}, false},
  {"EqualLeavesAnotherEffect",               {"gpu", "Equal", "a", "NoSchedule"},    {"gpu", "a", "NoExecute"}, false},
  {"NoOperatorMeansEqual",                   {"gpu", "", "a", ""},                   {"gpu", "a", "NoSchedule"}, true},
  {"NoValueEqualsNoValue",                   {"gpu", "Equal", "", ""},               {"gpu", "", "NoSchedule"}, true},
  {"NoEffectCoversNoSchedule",               {"gpu", "Equal", "a", ""},              {"gpu", "a", "NoSchedule"}, true},
  {"NoEffectCoversNoExecute",                {"gpu", "Equal", "a", ""},              {"gpu", "a", "NoExecute"}, true},
  {"ExistsCoversAnyValue",                   {"gpu", "Exists", "", "NoSchedule"},    {"gpu", "b", "NoSchedule"}, true},
  {"ExistsLeavesAnotherKey",                 {"gpu", "Exists", "", ""},              {"tpu", "b", "NoSchedule"}, false},
  {"ExistsWithoutKeyCoversAll",              {"", "Exists", "", ""},                 {"tpu", "b", "NoExecute"}, true},
  {"ExistsWithoutKeyKeepsItsEffect",         {"", "Exists", "", "NoSchedule"},       {"tpu", "b", "NoExecute"}, false},
  {"EqualWithoutKeyComparesTheValue",        {"", "Equal", "b", ""},                 {"tpu", "b", "NoExecute"}, true},
  {"GtCoversAGreaterTaint",                  {"sla", "Gt", "950", "NoSchedule"},     {"sla", "999", "NoSchedule"}, true},
  {"GtLeavesAnEqualTaint",                   {"sla", "Gt", "950", "NoSchedule"},     {"sla", "950", "NoSchedule"}, false},
  {"GtLeavesASmallerTaint",                  {"sla", "Gt", "950", "NoSchedule"},     {"sla", "99", "NoSchedule"}, false},
  {"GtKnowsNegativeNumbers",                 {"sla", "Gt", "-5", ""},                {"sla", "-4", "NoSchedule"}, true},
  {"LtCoversASmallerTaint",                  {"age", "Lt", "10", ""},                {"age", "9", "NoSchedule"}, true},
  {"LtLeavesAnEqualTaint",                   {"age", "Lt", "10", ""},                {"age", "10", "NoSchedule"}, false},
  {"LtLeavesAnotherKey",                     {"age", "Lt", "10", ""},                {"old", "9", "NoSchedule"}, false},
  {"NumbersNeedANumericTaint",               {"age", "Lt", "10", ""},                {"age", "young", "NoSchedule"}, false},
  {"NumbersNeedANumericToleration",          {"age", "Gt", "ten", ""},               {"age", "11", "NoSchedule"}, false},
  {"NumbersLeaveAnEmptyTaint",               {"age", "Lt", "10", ""},                {"age", "", "NoSchedule"}, false},
  {"NumbersHaveNoLeadingZero",               {"age", "Lt", "10", ""},                {"age", "09", "NoSchedule"}, false},
  {"NumbersHaveNoPlusSign",                  {"age", "Lt", "+10", ""},               {"age", "9", "NoSchedule"}, false},
  {"NumbersHaveNoNegativeZero",              {"age", "Lt", "10", ""},                {"age", "-0", "NoSchedule"}, false},
  {"NumbersHaveNoFraction",                  {"age", "Lt", "10", ""},                {"age", "9.5", "NoSchedule"}, false},
  {"NumbersEndAt64Bits",                     {"age", "Gt", "1", ""},                 {"age", "9223372036854775808", "NoSchedule"}, false},
  {"TheLargest64BitNumberCounts",            {"age", "Gt", "1", ""},                 {"age", "9223372036854775807", "NoSchedule"}, true},
  {"AnUnknownOperatorCoversNothing",         {"gpu", "NotEqual", "a", ""},           {"gpu", "a", "NoSchedule"}, false},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(FirstUntolerated, PassesOverTaintsThatOnlyPreferOthers) {
  const std::vector<fabric::Taint> taints = {{"slow", "", "PreferNoSchedule"}};
  EXPECT_EQ(FirstUntolerated(taints, {}), nullptr);
}

TEST(FirstUntolerated, NamesTheFirstThatNoTolerationCovers) {
  const std::vector<fabric::Taint> taints = {
      {"gpu", "present", "NoSchedule"}, {"team", "b", "NoExecute"}, {"sick", "", "NoSchedule"}};
  const std::vector<Toleration> tolerations = {{"gpu", "Exists", "", ""}};
  const fabric::Taint* found = FirstUntolerated(taints, tolerations);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(TaintText(*found), "team=b:NoExecute");
}

TEST(FirstUntolerated, IsNoneWhereEveryTaintIsCovered) {
  const std::vector<fabric::Taint> taints = {{"gpu", "present", "NoSchedule"},
                                             {"team", "b", "NoExecute"}};
  const std::vector<Toleration> tolerations = {{"gpu", "Exists", "", ""},
                                               {"team", "Equal", "b", "NoExecute"}};
  EXPECT_EQ(FirstUntolerated(taints, tolerations), nullptr);
}

TEST(TaintText, LeavesOutAnEmptyValue) {
  EXPECT_EQ(TaintText({"sick", "", "NoSchedule"}), "sick:NoSchedule");
}

TEST(PassesByItself, IsATaintThatNobodyMustTakeOff) {
  for (const char* key :
       {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/not-ready",
        "node.cilium.io/agent-not-ready", "node.cloudprovider.kubernetes.io/uninitialized"}) {
    EXPECT_TRUE(PassesByItself(key)) << key;
  }
  for (const char* key : {"", "dedicated", "nvidia.com/gpu", "node.kubernetes.io/exclude-gpu"}) {
    EXPECT_FALSE(PassesByItself(key)) << key;
  }
}

}  // namespace
}  // namespace weft::rules
