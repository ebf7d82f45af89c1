#include "operator/outlook/accelerators.h"

#include <gtest/gtest.h>

namespace weft::outlook {
namespace {

TEST(AcceleratorsTest, AProductsLabelNamesOneAccelerator) {
  const std::pair<const char*, const char*> cases[] = {
      {"NVIDIA-A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-80GB-PCIe"},
      {"nvidia-tesla-a100", "A100-40GB"},  // GKE
      {"nvidia-a100-80gb", "A100-80GB"},
      {"NVIDIA-H100-80GB-HBM3", "H100"},
      {"nvidia-h100-mega-80gb", "H100"},
      {"NVIDIA-H100-PCIe", "H100-PCIe"},
      {"NVIDIA-H100-NVL", "H100-NVL"},
      {"NVIDIA-H200", "H200"},
      {"NVIDIA-GH200-480GB", "GH200"},
      {"NVIDIA-B200", "B200"},
      {"NVIDIA-B300-SXM6-AC", "B300"},
      {"NVIDIA-GB200", "GB200"},
      {"NVIDIA-GB300", "GB300"},
      {"NVIDIA-L40S", "L40S"},
      {"Tesla-V100-SXM2-32GB", "V100-32GB"},
      {"Tesla-V100-SXM2-16GB", "V100"},
      {"NVIDIA-GeForce-RTX-4090", "RTX-4090"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000"},
      {"AMD_Instinct_MI300X_OAM", "MI300X"},
      {"AMD-Instinct-MI325X", "MI325X"},
      {"AMD-Instinct-MI355X-OAM", "MI355X"},
      {"tpu-v5p-slice", "TPU-v5p"},
      {"tpu-v6e-slice", "TPU-v6e"},
      {"trn2.48xlarge", "Trainium2"},
      {"Intel-Gaudi3", "Gaudi3"},
      {"p5.48xlarge", "H100"},
      {"p4d.24xlarge", "A100-40GB"},
      {"a3-ultragpu-8g", "H200"},
      {"Standard_ND96isr_H100_v5", "H100"},
      {"Standard_ND96asr_v4", "A100-40GB"},
      {"h100", "H100"},
  };
  for (const auto& [product, name] : cases) {
    const auto found = FindAccelerator(product);
    ASSERT_TRUE(found) << product << ": " << found.error().message;
    EXPECT_EQ(found->name, name) << product;
  }
}

TEST(AcceleratorsTest, EachIsFoundByItsOwnName) {
  for (const Accelerator& one : KnownAccelerators()) {
    const auto found = FindAccelerator(one.name);
    ASSERT_TRUE(found) << one.name;
    EXPECT_EQ(found->name, one.name);
  }
}

TEST(AcceleratorsTest, AnUnknownProductIsNamedBesideThoseThatAreKnown) {
  EXPECT_EQ(FindAccelerator("NVIDIA-H1000").error().message,
            "unknown accelerator \"NVIDIA-H1000\"; the nearest known is H100");
  EXPECT_EQ(FindAccelerator("H900").error().message,
            "unknown accelerator \"H900\"; the nearest known are H200 and H100");
  const auto found = FindAccelerator("NVIDIA-Z1");
  ASSERT_FALSE(found);
  const std::string& message = found.error().message;
  EXPECT_EQ(message.rfind("unknown accelerator \"NVIDIA-Z1\"; known are GB300, GB200, ", 0), 0u);
  EXPECT_NE(message.find("MI300X"), std::string::npos);
}

TEST(AcceleratorsTest, PeaksAreDenseAndOrdered) {
  for (const Accelerator& one : KnownAccelerators()) {
    EXPECT_GT(one.bf16, 0) << one.name;
    EXPECT_GT(one.memory_bytes, 16e9) << one.name;
    EXPECT_GT(one.memory_bytes_per_second, 0.5e12) << one.name;
    EXPECT_FALSE(one.source.empty()) << one.name;
    if (one.fp8 > 0) {
      EXPECT_GE(one.fp8, one.bf16) << one.name;
    }
    EXPECT_LE(one.tf32, one.bf16) << one.name;
  }
  const Accelerator h100 = *FindAccelerator("H100");
  EXPECT_EQ(PeakRate(h100, traffic::Precision::kBF16), 989e12);
  EXPECT_EQ(PeakRate(h100, traffic::Precision::kFP8), 1979e12);
  EXPECT_EQ(PeakRate(h100, traffic::Precision::kMXFP8), 1979e12);
  EXPECT_EQ(PeakRate(h100, traffic::Precision::kNVFP4), 0);
  EXPECT_EQ(PeakRate(*FindAccelerator("B200"), traffic::Precision::kNVFP4), 9000e12);
  EXPECT_EQ(PeakRate(*FindAccelerator("A100"), traffic::Precision::kFP8), 0);
}

TEST(AcceleratorsTest, ThePrecisionsThatOneHasAreNamed) {
  EXPECT_EQ(NoUnitText(*FindAccelerator("A100-80GB"), traffic::Precision::kFP8),
            "A100-80GB has no unit for FP8, only for FP32, TF32, FP16 and BF16");
}

fabric::AcceleratorSpec Added() {
  fabric::AcceleratorSpec one;
  one.name = "X1";
  one.products = {"acme x1 oam"};
  one.bf16 = 1200'000'000'000'000;
  one.memory_bytes = 128'000'000'000;
  one.memory_bytes_per_second = 4'000'000'000'000;
  one.watts = 800;
  return one;
}

TEST(AcceleratorsTest, AUserAddsAnAccelerator) {
  const std::vector<fabric::AcceleratorSpec> added = {Added()};
  for (const char* product : {"x1", "ACME-X1-OAM-128GB"}) {
    const auto found = FindAccelerator(product, added);
    ASSERT_TRUE(found) << product;
    EXPECT_EQ(found->name, "X1");
    EXPECT_EQ(found->bf16, 1200e12);
    EXPECT_EQ(found->fp8, 0);
    EXPECT_EQ(found->watts, 800);
  }
  EXPECT_FALSE(FindAccelerator("ACME-X1", added));
  std::vector<fabric::AcceleratorSpec> named = {Added()};
  named[0].products.clear();
  EXPECT_EQ(FindAccelerator("ACME-X1", named)->name, "X1");
  EXPECT_FALSE(FindAccelerator("ACME-X2", named));
  EXPECT_EQ(FindAccelerator("NVIDIA-H100", added)->name, "H100");
  EXPECT_EQ(FindAccelerator("Z1", added).error().message.substr(0, 46),
            "unknown accelerator \"Z1\"; known are X1, GB300,");
}

TEST(AcceleratorsTest, AUsersFiguresReplaceTheTables) {
  std::vector<fabric::AcceleratorSpec> added = {Added()};
  added[0].name = "H100";
  EXPECT_EQ(FindAccelerator("NVIDIA-H100-80GB-HBM3", added)->watts, 700);
  added[0].products = {"h100"};
  EXPECT_EQ(FindAccelerator("NVIDIA-H100-80GB-HBM3", added)->watts, 800);
}

TEST(AcceleratorsTest, NamesTheInvalidFieldOfAnAddedAccelerator) {
  std::vector<fabric::AcceleratorSpec> added = {Added(), Added()};
  EXPECT_EQ(CheckAccelerators(added).error().message, "[1].name: \"X1\" is listed twice");
  added[1].name = "X2";
  added[1].calibrated_as = "H1000";
  EXPECT_EQ(CheckAccelerators(added).error().message.substr(0, 51),
            "[1].calibratedAs: \"H1000\" must be one of GB300, GB2");
  added[1].calibrated_as = "H100";
  EXPECT_TRUE(CheckAccelerators(added));
}

}  // namespace
}  // namespace weft::outlook
