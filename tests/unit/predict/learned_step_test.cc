#include "operator/predict/learned_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace weft::predict {
namespace {

const CountedStep kFirst{"team-a/llama-1", "uid-1", 12.4, 121.5};
const CountedStep kSecond{"team-a/qwen-2", "uid-2", 8, 80};

TEST(LearnedStep, ReadsWhatItShows) {
  LearnedStep entry{118.4, 3, "2026-11-23T10:15:00Z", {kFirst, kSecond}};
  const std::string text =
      "percent: 118.40\n"
      "observations: 3\n"
      "lastObserved: 2026-11-23T10:15:00Z\n"
      "counted:\n"
      "- team-a/llama-1 uid-1 12.4 121.50\n"
      "- team-a/qwen-2 uid-2 8 80.00\n";
  EXPECT_EQ(ShowLearnedStep(entry), text);
  const auto read = ParseLearnedStep(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, entry);
}

TEST(LearnedStep, TakesWhatAPersonWrites) {
  const auto percent = [](const std::string& text) {
    const auto entry = ParseLearnedStep(text);
    return entry ? std::to_string(entry->percent) + " of " + std::to_string(entry->observations)
                 : entry.error().message;
  };
  EXPECT_EQ(percent("percent: 90"), "90.000000 of 1");
  EXPECT_EQ(percent("percent: 90 %  # our own measurement\r\nobservations: \"20\"\n\n"),
            "90.000000 of 20");
  EXPECT_EQ(percent("# from the vendor\ncounted: []\npercent: '85.5'\n"), "85.500000 of 1");
}

TEST(LearnedStep, SaysWhereAnEntryIsWrong) {
  struct Case {
    const char* text;
    const char* want;
  };
  const Case cases[] = {
      {"", "percent: is required"},
      {"observations: 3\n", "percent: is required"},
      {"percent: fast\n", "line 1: percent: \"fast\" must be a number from 20 to 500"},
      {"percent: 1.18\n", "line 1: percent: \"1.18\" must be a number from 20 to 500"},
      {"percent: nan\n", "line 1: percent: \"nan\" must be a number from 20 to 500"},
      {"percent: 501\n", "line 1: percent: \"501\" must be a number from 20 to 500"},
      {"\npercent: 90\nobservations: 0\n",
       "line 3: observations: \"0\" must be a whole number from 1 to 1000000000"},
      {"percent: 90\nobservations: 2.5\n",
       "line 2: observations: \"2.5\" must be a whole number from 1 to 1000000000"},
      {"percent: 90\nlastObserved: monday\n",
       "line 2: lastObserved: \"monday\" must be a time such as 2027-01-15T08:00:00Z"},
      {"percent: 90\nratio: 0.9\n",
       "line 2: \"ratio\" is not a field: an entry has percent, observations, lastObserved and "
       "counted"},
      {"90\n", "line 1: \"90\" must be \"field: value\""},
      {"percent: 90\ncounted: yes\n", "line 2: counted: must be a list"},
      {"percent: 90\n- a b 1 2\n",
       "line 2: \"a b 1 2\" must be below \"counted:\" and have a Placement, the uid of its job, "
       "the measured seconds and their percentage"},
      {"percent: 90\ncounted:\n- a b 1\n",
       "line 3: \"a b 1\" must be below \"counted:\" and have a Placement, the uid of its job, the "
       "measured seconds and their percentage"},
  };
  for (const Case& one : cases) {
    const auto entry = ParseLearnedStep(one.text);
    ASSERT_FALSE(entry) << one.text;
    EXPECT_EQ(entry.error().message, one.want);
  }
}

TEST(LearnedStep, KeysAreThoseOfAConfigMap) {
  using traffic::Precision;
  EXPECT_EQ(LearnedStepKey("megatron-core-0.15", "H100", Precision::kBF16),
            "megatron-core-0.15_H100_BF16");
  EXPECT_EQ(LearnedStepKey("", "H100", Precision::kFP8), "no-release_H100_FP8");
  const std::string in = LearnedStepKeyIn("team-a", "megatron-core-0.15_H100_BF16");
  EXPECT_EQ(in, "megatron-core-0.15_H100_BF16.team-a");
  EXPECT_EQ(SpaceOfLearnedStep(in), "team-a");
  EXPECT_EQ(SpaceOfLearnedStep("megatron-core-0.15_H100_BF16"), "");
  EXPECT_EQ(LearnedStepKey("my_fork/v2 (α)", "RTX 4090", Precision::kBF16),
            "my-fork-v2-----_RTX-4090_BF16");
  EXPECT_LE(
      LearnedStepKey(std::string(1000, 'a'), std::string(1000, 'b'), Precision::kNVFP4).size(),
      253U);
}

// 8 and 12.5 of 10 s are 80 and 125 %, whose geometric mean is 100 %.
TEST(LearnedStep, AddsToTheGeometricMeanByTheStatedWeight) {
  LearnedStep entry{80, 1, "", {}};
  Add({"ns/b-1", "b", 12.5, 125}, entry);
  EXPECT_NEAR(entry.percent, 100, 1e-9);
  EXPECT_EQ(entry.observations, 2U);
  LearnedStep edited{90, 1'000'000, "", {}};
  Add({"ns/b-1", "b", 12.5, 125}, edited);
  EXPECT_NEAR(edited.percent, 90, 1e-3);
}

TEST(LearnedStep, ReplacesAndRemovesWhatOneJobSaid) {
  LearnedStep entry{80, 1, "", {{"ns/a-1", "a", 8, 80}}};
  Add({"ns/b-1", "b", 12.5, 125}, entry);
  Replace(1, {"ns/b-1", "b", 20, 200}, entry);
  EXPECT_NEAR(entry.percent, std::sqrt(80.0 * 200), 1e-9);
  EXPECT_EQ(entry.observations, 2U);
  Remove(0, entry);
  EXPECT_NEAR(entry.percent, 200, 1e-9);
  EXPECT_EQ(entry.observations, 1U);
  EXPECT_EQ(entry.counted.size(), 1U);
}

TEST(LearnedStep, StaysWithinItsBoundsAndCounts) {
  LearnedStep entry{500, LearnedStep::kMostObservations, "", {{"ns/a-1", "a", 8, 500}}};
  Add({"ns/b-1", "b", 8, 500}, entry);
  EXPECT_EQ(entry.observations, LearnedStep::kMostObservations);
  EXPECT_TRUE(ParseLearnedStep(ShowLearnedStep(entry)));
}

}  // namespace
}  // namespace weft::predict
