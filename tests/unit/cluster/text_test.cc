#include "operator/cluster/text.h"

#include <gtest/gtest.h>

namespace weft::cluster {
namespace {

using rules::Rejection;

TEST(AmountText, IsInTheResourcesOwnUnit) {
  EXPECT_EQ(AmountText("cpu", 2000), "2 cpu");
  EXPECT_EQ(AmountText("cpu", 1500), "1500m cpu");
  EXPECT_EQ(AmountText("nvidia.com/gpu", 24), "24 nvidia.com/gpu");
  EXPECT_EQ(AmountText("memory", 16'000'000'000), "16G memory");
}

TEST(AheadText, IsExactForAFewAndRoundForMany) {
  EXPECT_EQ(AheadText(0), "");
  EXPECT_EQ(AheadText(1), "1 job waits ahead of it.");
  EXPECT_EQ(AheadText(10), "10 jobs wait ahead of it.");
  EXPECT_EQ(AheadText(19), "At least 10 jobs wait ahead of it.");
  EXPECT_EQ(AheadText(99), "At least 50 jobs wait ahead of it.");
  EXPECT_EQ(AheadText(200), "At least 200 jobs wait ahead of it.");
}

TEST(SpansText, CountsTheDomainsOfEachLevel) {
  objective::Scores scores;
  EXPECT_EQ(SpansText(scores), "");
  scores.spans = {{"spine", 1}, {"leaf", 2}};
  EXPECT_EQ(SpansText(scores), "1 spine, 2 leaf");
}

TEST(RejectionsText, NamesTheFirstFewAndCountsTheOthers) {
  std::vector<rules::RejectionCount> rejections;
  EXPECT_EQ(RejectionsText(rejections, 9), "");
  EXPECT_EQ(NoRoomText(rejections, 9), "");
  rejections = {{Rejection::kResource, "cpu", 2}, {Rejection::kPool, "A100", 1}};
  EXPECT_EQ(RejectionsText(rejections, 9), "2 of 9 lack free cpu; 1 of 9 is A100");
  EXPECT_EQ(NoRoomText(rejections, 9), "2 of 9 nodes lack free cpu; 1 of 9 is A100.");
  EXPECT_EQ(NoRoomText(rejections, 3), "No node has room: 2 of 3 lack free cpu; 1 of 3 is A100.");
  rejections.resize(4, {Rejection::kPool, "H100", 1});
  EXPECT_EQ(RejectionsText(rejections, 9),
            "2 of 9 lack free cpu; 1 of 9 is A100; 1 of 9 is H100; 1 of 9 is H100");
  rejections.push_back({Rejection::kPool, "B100", 1});
  EXPECT_TRUE(RejectionsText(rejections, 9).ends_with("is H100; 1 of 9 has another reason"));
  rejections.push_back({Rejection::kPool, "B200", 2});
  EXPECT_TRUE(RejectionsText(rejections, 9).ends_with("is H100; 3 of 9 have other reasons"));
}

}  // namespace
}  // namespace weft::cluster
