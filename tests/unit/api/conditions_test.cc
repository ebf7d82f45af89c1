#include "operator/api/conditions.h"

#include <gtest/gtest.h>

#include "operator/api/names.h"

namespace weft::api {
namespace {

constexpr UnixSeconds kNow = 1'790'000'000;

Condition With(const char* type, const char* status, const std::string& time) {
  return {type, status, "Reason", "words", time};
}

TEST(ConditionsTest, ANewConditionComesLastAndIsAsOldAsNow) {
  std::vector<Condition> conditions = {With("Accepted", "True", "then")};
  PutCondition(conditions, With("Placed", "False", ""), kNow);
  EXPECT_EQ(conditions, (std::vector<Condition>{With("Accepted", "True", "then"),
                                                With("Placed", "False", FormatTime(kNow))}));
}

TEST(ConditionsTest, TheSameStatusKeepsItsTimeWhateverTheWords) {
  std::vector<Condition> conditions = {With("Placed", "False", "then")};
  PutCondition(conditions, {"Placed", "False", "Other", "other words", ""}, kNow);
  EXPECT_EQ(conditions,
            (std::vector<Condition>{{"Placed", "False", "Other", "other words", "then"}}));
}

TEST(ConditionsTest, AnotherStatusIsAsOldAsNow) {
  std::vector<Condition> conditions = {With("Placed", "False", "then")};
  PutCondition(conditions, With("Placed", "True", ""), kNow);
  EXPECT_EQ(FindCondition(conditions, "Placed")->last_transition_time, FormatTime(kNow));
  EXPECT_EQ(FindCondition(conditions, "Failed"), nullptr);
}

TEST(ConditionsTest, ShortensReasonAndMessageToTheSchemasLimits) {
  std::vector<Condition> conditions;
  PutCondition(conditions,
               {"Placed", "False", std::string(2'000, 'r'), std::string(40'000, 'm'), ""}, kNow);
  EXPECT_EQ(conditions[0].reason.size(), kReasonAtMost);
  EXPECT_EQ(conditions[0].message.size(), kMessageBytesAtMost);
}

TEST(ConditionsTest, WhereOthersHaveFilledTheListTheirLastMakesRoom) {
  std::vector<Condition> conditions = {With("Accepted", "True", "then")};
  for (char c = 'a'; c < 'a' + 15; ++c) {
    conditions.push_back(With(std::string(1, c).c_str(), "True", "then"));
  }
  ASSERT_EQ(conditions.size(), kConditionsAtMost);
  PutCondition(conditions, With("Placed", "False", ""), kNow);
  EXPECT_EQ(conditions.size(), kConditionsAtMost);
  EXPECT_EQ(conditions[14].type, "n");
  EXPECT_EQ(conditions[15].type, "Placed");
}

}  // namespace
}  // namespace weft::api
