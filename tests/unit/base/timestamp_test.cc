#include "operator/base/timestamp.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Case {
  const char* name;
  const char* text;
  std::optional<UnixSeconds> time;
};

class ParseTimeTest : public testing::TestWithParam<Case> {};

TEST_P(ParseTimeTest, IsAsWritten) { EXPECT_EQ(ParseTime(GetParam().text), GetParam().time); }

INSTANTIATE_TEST_SUITE_P(
    Table, ParseTimeTest,
    testing::Values(Case{"Epoch", "1970-01-01T00:00:00Z", 0},
                    Case{"WholeSeconds", "2026-08-22T10:00:00Z", 1787392800},
                    Case{"MicrosecondsAreCutOff", "2026-08-22T10:00:00.999999Z", 1787392800},
                    Case{"AnOffsetIsSubtracted", "2026-08-22T12:00:00+02:00", 1787392800},
                    Case{"BeforeTheEpoch", "1969-12-31T23:59:59Z", -1},
                    Case{"NoZone", "2026-08-22T10:00:00", std::nullopt},
                    Case{"NoSuchDay", "2026-02-30T10:00:00Z", std::nullopt},
                    Case{"NoSuchHour", "2026-02-20T24:00:00Z", std::nullopt},
                    Case{"Empty", "", std::nullopt}, Case{"Words", "yesterday", std::nullopt}),
    [](const auto& tested) { return tested.param.name; });

TEST(FormatTimeTest, ReadsBackToTheSameSecond) {
  for (UnixSeconds time : {UnixSeconds{0}, UnixSeconds{951'782'400}, UnixSeconds{1'787'392'800},
                           UnixSeconds{4'102'444'799}}) {
    EXPECT_EQ(ParseTime(FormatTime(time)), time) << FormatTime(time);
  }
  EXPECT_EQ(FormatTime(951'782'400), "2000-02-29T00:00:00Z");
}

}  // namespace
}  // namespace weft
