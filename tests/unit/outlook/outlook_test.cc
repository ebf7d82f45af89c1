#include "operator/outlook/outlook.h"

#include <gtest/gtest.h>

#include "operator/outlook/machines.h"
#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

Layout Job() {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 512, 8, 4);
  layout.parallelism.sharding = traffic::Sharding::kOptimizerState;
  return layout;
}

Result<Prediction> On(const char* chip, const Layout& layout) {
  return Predict(layout, *FindAccelerator(chip), NetworkOn({8, 360e9, 42.5e9}, layout));
}

TEST(OutlookTest, SaysHowLongAndHowMuch) {
  const auto found = On("H100", Job());
  ASSERT_TRUE(found);
  const double seconds = found->step.Seconds();
  EXPECT_DOUBLE_EQ(found->tokens_per_second, 512 * 8192 / seconds);
  EXPECT_DOUBLE_EQ(found->mfu, ModelFlops(Job()) / (seconds * 512 * 989e12));
  EXPECT_GT(found->mfu, 0.3);
  EXPECT_LT(found->mfu, 0.6);
  EXPECT_LT(found->step_low, seconds);
  EXPECT_GT(found->step_high, seconds);
  EXPECT_NEAR(found->capacity, 0.94 * 81559 * 1024 * 1024, 1);
}

TEST(OutlookTest, BorrowedConstantsHaveAWiderBand) {
  Accelerator chip = *FindAccelerator("H100");
  const Network network = NetworkOn({8, 360e9, 42.5e9}, Job());
  const auto own = Predict(Job(), chip, network);
  chip.name = "X1";
  chip.calibrated_as = "H100";
  const auto borrowed = Predict(Job(), chip, network);
  ASSERT_TRUE(own && borrowed);
  ASSERT_LT(own->error, kBorrowedError);
  EXPECT_EQ(own->error, own->calibration->error);
  EXPECT_EQ(borrowed->error, kBorrowedError);
  EXPECT_DOUBLE_EQ(borrowed->step_high, borrowed->step.Seconds() * (1 + kBorrowedError));
  EXPECT_EQ(CalibrationName(*own), own->calibration->name);
  EXPECT_EQ(CalibrationName(*borrowed),
            std::string(own->calibration->name) + ", calibrated as H100");
}

TEST(OutlookTest, ProposesAChangeForALayoutThatDoesNotFit) {
  Layout layout = Job();
  layout.parallelism.sharding = traffic::Sharding::kNone;
  layout.model.micro_batch_size = 2;
  const auto found = On("A100-40GB", layout);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->fits);
  EXPECT_TRUE(found->change);
}

// What does not fit is read and written once a step.
TEST(OutlookTest, PooledMemoryHoldsTheStateThatDoesNotFit) {
  Layout layout = Job();
  layout.parallelism.sharding = traffic::Sharding::kNone;
  Accelerator chip = *FindAccelerator("A100-40GB");
  const Network network = NetworkOn({8, 360e9, 42.5e9}, layout);
  const auto without = Predict(layout, chip, network);
  ASSERT_TRUE(without);
  ASSERT_FALSE(without->fits);
  const double excess = without->memory.Total() - without->capacity;
  ASSERT_LT(excess, without->memory.optimizer);
  chip.pooled_bytes = 500e9;
  chip.pooled_bytes_per_second = 63e9;
  const auto with = Predict(layout, chip, network);
  ASSERT_TRUE(with);
  EXPECT_TRUE(with->fits);
  EXPECT_FALSE(with->change);
  EXPECT_NEAR(with->memory.pooled, excess, 2);
  EXPECT_NEAR(with->memory.Total(), with->capacity, 2);
  EXPECT_NEAR(with->step.Seconds() - without->step.Seconds(), 2 * excess / 63e9, 1e-6);
  chip.pooled_bytes = excess / 2;
  EXPECT_FALSE(Predict(layout, chip, network)->fits);
}

TEST(OutlookTest, AFasterChipNeverTakesLonger) {
  EXPECT_LT(On("H100", Job())->step.Seconds(), On("A100", Job())->step.Seconds());
  EXPECT_LT(On("B200", Job())->step.Seconds(), On("H100", Job())->step.Seconds());
}

TEST(OutlookTest, APrecisionThatTheChipLacksIsAnError) {
  Layout layout = Job();
  layout.model.precision = traffic::Precision::kFP8;
  const auto found = On("A100", layout);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "model.transformer.precision: A100-80GB has no unit for FP8, only for FP32, TF32, FP16 "
            "and BF16");
}

// 1,024 H100 at 0.9 of what is above idle, and 0.4 of the limit for the servers.
TEST(OutlookTest, PowerIsThatOfTheGPUsAndTheirServers) {
  const double watts = PowerOf(*FindAccelerator("H100"), 1024);
  EXPECT_NEAR(watts, 942.1e3, 2e3);
  EXPECT_DOUBLE_EQ(PeakPowerOf(*FindAccelerator("H100")), 980);
}

}  // namespace
}  // namespace weft::outlook
