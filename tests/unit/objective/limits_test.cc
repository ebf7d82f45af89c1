#include "operator/objective/limits.h"

#include <gtest/gtest.h>

#include <utility>

namespace weft::objective {
namespace {

TEST(SearchLimits, OfALargeJobAreFewerAndNeverFewerThanTheFewest) {
  SearchLimits limits;
  limits.refine_starts = limits.tilings = limits.refine_last = 10;
  limits.most_starts_x_workers = limits.most_tilings_x_workers = limits.most_last_x_workers = 100;
  limits.most_vain_starts_x_workers = 100;
  limits.fewest_starts = limits.fewest_tilings = 2;
  struct Case {
    std::uint32_t workers, wanted, last;
  };
  for (const Case& c : {Case{0, 10, 10}, Case{1, 10, 10}, Case{10, 10, 10}, Case{11, 9, 9},
                        Case{20, 5, 5}, Case{51, 2, 1}, Case{1000, 2, 1}}) {
    EXPECT_EQ(limits.StartsFor(c.workers), c.wanted) << c.workers;
    EXPECT_EQ(limits.TilingsFor(c.workers, false, false), c.wanted) << c.workers;
    EXPECT_EQ(limits.LastFor(c.workers, false), c.last) << c.workers;
  }
  EXPECT_EQ(limits.VainStartsFor(50, false, false), 2U);
  EXPECT_EQ(limits.VainStartsFor(1000, false, false), 1U);
  EXPECT_EQ(limits.VainStartsFor(1000, false, true), limits.most_vain_starts_x_workers_far / 1000);
}

TEST(SearchLimits, OfManyPiecesAreSoManyForEach) {
  SearchLimits limits;
  limits.refine_steps = limits.refine_patience = 100;
  limits.refine_steps_per_piece = limits.refine_patience_per_piece = 3;
  for (const auto& [pieces, wanted] :
       {std::pair{0U, 100U}, std::pair{33U, 100U}, std::pair{34U, 102U}}) {
    EXPECT_EQ(limits.StepsFor(pieces), wanted) << pieces;
    EXPECT_EQ(limits.PatienceFor(pieces), wanted) << pieces;
  }
}

TEST(SearchLimits, MoreEffortIsMoreOfEverything) {
  const SearchLimits quick = LimitsOf(Effort::kQuick), normal = LimitsOf(Effort::kNormal),
                     thorough = LimitsOf(Effort::kThorough);
  for (const std::uint32_t workers : {1U, 1000U}) {
    EXPECT_EQ(quick.StartsFor(workers), 0U);
    EXPECT_LT(quick.TilingsFor(workers, false, false), normal.TilingsFor(workers, false, false));
    EXPECT_LT(normal.StartsFor(workers), thorough.StartsFor(workers));
    EXPECT_LT(normal.TilingsFor(workers, false, false), thorough.TilingsFor(workers, false, false));
    EXPECT_LT(quick.StepsFor(workers), normal.StepsFor(workers));
    EXPECT_LT(normal.StepsFor(workers), thorough.StepsFor(workers));
  }
  EXPECT_TRUE(thorough.after_normal);
}

TEST(AnnealSteps, GrowWithTheJobUpToALimitAndThenMoreSlowly) {
  const SearchLimits limits = LimitsOf(Effort::kNormal);
  EXPECT_EQ(limits.AnnealStepsFor(10), 120'000U);
  EXPECT_EQ(limits.AnnealStepsFor(20), 960'000U);
  EXPECT_EQ(limits.AnnealStepsFor(500), 3'000'000U);
  EXPECT_EQ(limits.AnnealStepsFor(1'000), 4'000'000U);
  EXPECT_EQ(LimitsOf(Effort::kQuick).AnnealStepsFor(1'000), 0U);
}

TEST(Effort, HasThreeNames) {
  EXPECT_EQ(FindEffort("quick"), Effort::kQuick);
  EXPECT_EQ(FindEffort("normal"), Effort::kNormal);
  EXPECT_EQ(FindEffort("thorough"), Effort::kThorough);
  EXPECT_EQ(FindEffort("Quick"), std::nullopt);
}

}  // namespace
}  // namespace weft::objective
