#include "operator/placement/fits.h"

#include <gtest/gtest.h>

#include "operator/placement/place.h"
#include "tests/support/campaign.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

// Levels that are required, groups, nodes in use, planes and toruses: the answer is Solve's.
void ExpectSolvesAnswer(std::uint64_t first, const testing::RandomOptions& options) {
  int fit = 0, refused = 0;
  for (std::uint64_t seed = first; seed < first + weft::testing::Instances(400); ++seed) {
    const testing::RandomInstance random = testing::MakeRandomInstance(seed, options);
    const bool solved = Solve(*random.claims, random.request, *random.graph).has_value();
    EXPECT_EQ(Fits(*random.claims, random.request, *random.graph), solved) << random.what;
    ++(solved ? fit : refused);
  }
  EXPECT_GT(fit, 20);
  EXPECT_GT(refused, 20);
}

TEST(Fits, SaysWhatSolveFinds) { ExpectSolvesAnswer(1, {}); }
TEST(Fits, SaysWhatSolveFindsOnPlanes) { ExpectSolvesAnswer(5'000, {.planes = true}); }
TEST(Fits, SaysWhatSolveFindsOnToruses) { ExpectSolvesAnswer(9'000, {.torus = true}); }

}  // namespace
}  // namespace weft::placement
