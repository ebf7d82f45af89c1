#include "operator/decide/conditions.h"

#include <gtest/gtest.h>

namespace weft::decide {
namespace {

constexpr UnixSeconds kNow = 1'790'000'000;

api::Condition With(const char* type, const char* status, const std::string& time) {
  return {type, status, "Reason", "words", time};
}

TEST(ConditionsTest, ANewConditionComesLastAndIsAsOldAsNow) {
  std::vector<api::Condition> conditions = {With("Accepted", "True", "then")};
  PutCondition(conditions, With("Placed", "False", ""), kNow);
  EXPECT_EQ(conditions, (std::vector<api::Condition>{With("Accepted", "True", "then"),
                                                     With("Placed", "False", FormatTime(kNow))}));
}

TEST(ConditionsTest, TheSameStatusKeepsItsTimeWhateverTheWords) {
  std::vector<api::Condition> conditions = {With("Placed", "False", "then")};
  PutCondition(conditions, {"Placed", "False", "Other", "other words", ""}, kNow);
  EXPECT_EQ(conditions,
            (std::vector<api::Condition>{{"Placed", "False", "Other", "other words", "then"}}));
}

TEST(ConditionsTest, AnotherStatusIsAsOldAsNow) {
  std::vector<api::Condition> conditions = {With("Placed", "False", "then")};
  PutCondition(conditions, With("Placed", "True", ""), kNow);
  EXPECT_EQ(FindCondition(conditions, "Placed")->last_transition_time, FormatTime(kNow));
  EXPECT_EQ(FindCondition(conditions, "Failed"), nullptr);
}

}  // namespace
}  // namespace weft::decide
