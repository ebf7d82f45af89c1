#include "operator/cluster/completed_indexes.h"

#include <gtest/gtest.h>

#include <random>

namespace weft::cluster {
namespace {

TEST(CompletedIndexesTest, ReadsWhatItWrites) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000; ++i) {
    ByWorker<bool> succeeded(1 + random() % 40);
    for (const WorkerIndex w : succeeded.Indices()) succeeded[w] = random() % 3 != 0;
    const std::string text = IndexesText(succeeded);
    ASSERT_EQ(ParseIndexes(text, static_cast<std::uint32_t>(succeeded.size())), succeeded) << text;
  }
}

// As kube-controller-manager writes status.completedIndexes of a Job.
TEST(CompletedIndexesTest, WritesTheFormOfAJob) {
  EXPECT_EQ(IndexesText({true, false, false, true, true, true, false, true}), "0,3-5,7");
  EXPECT_EQ(IndexesText({true, true}), "0,1");
  EXPECT_EQ(IndexesText({false}), "");
}

TEST(CompletedIndexesTest, LeavesOutWhatIsMalformedOrNoWorker) {
  const ByWorker<bool> none(4, false);
  for (const char* text :
       {"", ",", "-", "4", "3-4", "2-1", "x", "1-", "-1", "99999999999", "0x1"}) {
    EXPECT_EQ(ParseIndexes(text, 4), none) << text;
  }
  EXPECT_EQ(ParseIndexes("x,2,", 4), (ByWorker<bool>{false, false, true, false}));
}

}  // namespace
}  // namespace weft::cluster
