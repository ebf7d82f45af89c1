// The reconcile steps on random objects; tests/fuzz/next_step_fuzz.cc goes on from here.
#include "tests/support/odd_worlds.h"

#include <gtest/gtest.h>

#include <vector>

#include "operator/base/random.h"

namespace weft::testing {
namespace {

std::vector<std::uint8_t> Bytes(std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<std::uint8_t> bytes(400);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.Next());
  return bytes;
}

TEST(OddWorldsTest, NoJobBreaksALaw) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    ASSERT_EQ(BrokenLawOfJob(Bytes(seed)), "") << "seed " << seed;
  }
}

TEST(OddWorldsTest, NoGangBreaksALaw) {
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    ASSERT_EQ(BrokenLawOfGang(Bytes(seed)), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::testing
