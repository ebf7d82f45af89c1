#include "operator/outlook/calibration.h"

#include <gtest/gtest.h>

#include "tests/support/layouts.h"
#include "tests/support/models.h"

namespace weft::outlook {
namespace {

std::string_view NameFor(const char* chip, traffic::Precision precision, traffic::Sharding sharding,
                         bool experts = false) {
  Layout layout = testing::Spread(traffic::testing::Llama70B(), 64, 1, 1);
  layout.model.precision = precision;
  layout.parallelism.sharding = sharding;
  if (experts) layout.model.moe = traffic::MixtureOfExperts{8, 2, 80, 4096, 0};
  return CalibrationFor(*FindAccelerator(chip), layout).name;
}

TEST(CalibrationTest, AJobGetsTheRowOfItsChipPrecisionAndSoftware) {
  using traffic::Precision;
  using traffic::Sharding;
  const auto none = Sharding::kNone, full = Sharding::kFull;
  EXPECT_EQ(NameFor("H100", Precision::kBF16, none), "Hopper BF16, Megatron");
  EXPECT_EQ(NameFor("H200", Precision::kFP8, none), "Hopper FP8, Megatron");
  EXPECT_EQ(NameFor("H100", Precision::kBF16, full), "Hopper BF16, FSDP");
  EXPECT_EQ(NameFor("A100", Precision::kBF16, full), "A100 BF16, FSDP");
  EXPECT_EQ(NameFor("A100", Precision::kFP16, Sharding::kOptimizerState), "A100 BF16, Megatron");
  EXPECT_EQ(NameFor("GB300", Precision::kFP8, none), "GB300 FP8, Megatron");
  EXPECT_EQ(NameFor("B200", Precision::kBF16, full), "Blackwell BF16, Megatron");
  EXPECT_EQ(NameFor("GB200", Precision::kFP8, none, true), "GB200, experts");
  EXPECT_EQ(NameFor("MI300X", Precision::kBF16, none), "Assumed");
  EXPECT_EQ(NameFor("H100", Precision::kTF32, none), "Assumed");
}

TEST(CalibrationTest, AnAddedAcceleratorUsesTheCalibrationThatItNames) {
  const Layout layout = testing::Spread(traffic::testing::Llama70B(), 64, 1, 1);
  Accelerator added = *FindAccelerator("H100");
  added.name = "H20";
  EXPECT_EQ(CalibrationFor(added, layout).name, "Assumed");
  added.calibrated_as = "H100";
  EXPECT_EQ(CalibrationFor(added, layout).name, "Hopper BF16, Megatron");
}

TEST(CalibrationTest, EveryRowSaysWhereItComesFromAndCanBeTrue) {
  for (const Calibration& one : KnownCalibrations()) {
    EXPECT_FALSE(one.fitted_on.empty()) << one.name;
    EXPECT_GT(one.matrix_efficiency, 0.2) << one.name;
    EXPECT_LE(one.matrix_efficiency, 0.9) << one.name;
    EXPECT_LE(one.attention_share, 1) << one.name;
    EXPECT_GE(one.memory_passes, 4) << one.name;
    EXPECT_GT(one.error, 0.05) << one.name;
    EXPECT_LE(one.error, 0.4) << one.name;
    EXPECT_EQ(&FindCalibration(one.name), &one);
  }
}

}  // namespace
}  // namespace weft::outlook
