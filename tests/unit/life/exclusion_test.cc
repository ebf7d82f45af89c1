#include "operator/life/exclusion.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/api/names.h"

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;
using Names = std::vector<std::string>;

Names Numbered(const std::string& stem, int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back(stem + std::to_string(1'000'000 + i));
  return names;
}

TEST(ExclusionTest, ANodeIsLeftOutLongerEachTime) {
  std::vector<api::ExcludedNode> excluded;
  std::vector<std::int64_t> seconds;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Exclude({"a", "a"}, kNow, excluded), 0U);
    seconds.push_back(*ParseTime(excluded.at(0).until) - kNow);
  }
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{300, 600, 1200, 2400, 3600, 3600}));
  EXPECT_EQ(excluded.size(), 1U);
}

TEST(ExclusionTest, AnEntryIsForgottenWhenItEndedLongAgo) {
  std::vector<api::ExcludedNode> excluded;
  Exclude({"a"}, kNow, excluded);
  Exclude({"b"}, kNow + 300 + 3600, excluded);
  EXPECT_EQ(excluded.size(), 2U);
  Exclude({"b"}, kNow + 300 + 3601, excluded);
  EXPECT_EQ(excluded.size(), 1U);
}

TEST(ExclusionTest, OfMoreThanTheSchemaTakesThoseStayThatRefusedMostOftenAndLast) {
  std::vector<api::ExcludedNode> excluded;
  Exclude({"often"}, kNow, excluded);
  Exclude({"often"}, kNow, excluded);
  Exclude({"once"}, kNow, excluded);
  const std::size_t dropped = Exclude(Numbered("n", 2'000), kNow + 10, excluded);
  EXPECT_EQ(dropped, 978U);
  ASSERT_EQ(excluded.size(), api::kExcludedNodesAtMost);
  EXPECT_EQ(excluded.front().node, "often");
  EXPECT_EQ(excluded[1].node, "n1000000");  // later than "once"
  EXPECT_EQ(excluded.back().node, "n1001022");
  EXPECT_EQ(DroppedText(dropped), "; status.excludedNodes is full and drops 978 nodes");
  EXPECT_EQ(DroppedText(0), "");
}

TEST(ExclusionTest, LongNamesTakeFewerEntries) {
  std::vector<api::ExcludedNode> excluded;
  Exclude(Numbered(std::string(246, 'n'), 16'384), kNow, excluded);
  EXPECT_LE(api::EncodeExcludedNodes(excluded).dump().size(), kExcludedBytesAtMost);
  EXPECT_EQ(excluded.size(), kExcludedBytesAtMost / (253 + 92));
}

TEST(ExclusionTest, OddCountsOfAStatusAreTakenAsTheyCanBe) {
  std::vector<api::ExcludedNode> excluded = {
      {"a", FormatTime(kNow), INT64_MAX}, {"b", FormatTime(kNow), -7}, {"c", "no time", 1}};
  Exclude({"a", "b"}, kNow, excluded);
  EXPECT_EQ(excluded, (std::vector<api::ExcludedNode>{{"a", FormatTime(kNow + 3600), 99'999},
                                                      {"b", FormatTime(kNow + 300), 1}}));
}

TEST(ExclusionTest, WhereProgramsFailIsAvoidedAndARefusalIsNotTakenBackByIt) {
  using enum api::ExclusionEffect;
  std::vector<api::ExcludedNode> excluded;
  Exclude({"a"}, kNow, excluded);
  Exclude({"a", "b"}, kNow, excluded, kPreferNoSchedule);
  EXPECT_EQ(ExcludedAt(excluded, kNow), Names{"a"});
  EXPECT_EQ(ExcludedAt(excluded, kNow, kPreferNoSchedule), Names{"b"});
  Exclude({"b"}, kNow, excluded);
  EXPECT_EQ(ExcludedAt(excluded, kNow), (Names{"a", "b"}));
  Exclude({"b"}, kNow + 1'000, excluded, kPreferNoSchedule);  // the refusal is over
  EXPECT_EQ(ExcludedAt(excluded, kNow + 1'000, kPreferNoSchedule), Names{"b"});
}

TEST(ExclusionTest, ANodeMadeAgainUnderItsNameIsAnotherMachine) {
  std::vector<api::ExcludedNode> excluded;
  Exclude({"a", "b", "c"}, kNow, excluded);
  Exclude({"a"}, kNow + 400, excluded);  // the second time: for 600 s
  const auto born = [](UnixSeconds a, UnixSeconds b) -> NodeBirths {
    return [a, b](const std::string& node) -> std::optional<UnixSeconds> {
      if (node == "c") return std::nullopt;
      return node == "a" ? a : b;
    };
  };
  const auto out = [&](UnixSeconds now, const NodeBirths& births) {
    return ExcludedAt(excluded, now, api::ExclusionEffect::kNoSchedule, births);
  };
  EXPECT_EQ(out(kNow + 1, born(kNow - 9'999, kNow - 9'999)), (Names{"a", "b", "c"}));
  EXPECT_EQ(out(kNow + 1, born(kNow + 60, kNow + 61)), (Names{"a", "c"}));
  EXPECT_EQ(out(kNow + 401, born(kNow + 300, kNow)), Names{"a"});
  EXPECT_EQ(out(kNow + 401, born(kNow + 461, kNow)), Names{});
}

TEST(ExclusionTest, ATimeThatOnlyAWrongClockCanHaveWrittenIsPast) {
  const auto out = [](std::int64_t seconds) {
    return ExcludedAt({{"a", FormatTime(kNow + seconds), 9}}, kNow).size();
  };
  EXPECT_EQ(out(0), 0U);
  EXPECT_EQ(out(1), 1U);
  EXPECT_EQ(out(3'660), 1U);
  EXPECT_EQ(out(3'661), 0U);
  EXPECT_EQ(FirstReturn({{"a", FormatTime(kNow + 99'999), 1}}, kNow), std::nullopt);
}

}  // namespace
}  // namespace weft::life
