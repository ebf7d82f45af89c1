#include "operator/fabric/products.h"

#include <gtest/gtest.h>

#include <utility>

namespace weft::fabric {
namespace {

TEST(MatchesProduct, TheWordsOfAModelInAnyCase) {
  const std::pair<const char*, const char*> matching[] = {
      {"H100", "NVIDIA-H100-80GB-HBM3"},
      {"h100", "NVIDIA-H100-80GB-HBM3"},
      {"nvidia-h100-80gb-hbm3", "NVIDIA-H100-80GB-HBM3"},
      {"H100-80GB", "NVIDIA-H100-80GB-HBM3"},
      {"NVIDIA H100", "h100"},
      {"H100", "nvidia-h100-mega-80gb"},
      {"H100", "H100_NVLINK_80GB"},
      {"H100", "Standard_ND96isr_H100_v5"},
      {"H100", "BM.GPU.H100.8"},
      {"H100", "gpu-h100x8-80gb"},
      {"H100", "gx3d-160x1792x8h100"},
      {"MI300X", "Instinct_MI300X"},
      {"AMD Instinct MI300X", "AMD_Instinct_MI300X_OAM"},
      {"RTX4090", "NVIDIA-GeForce-RTX-4090"},
      {"Gaudi 3", "intel-gaudi3"},
      {"Tesla T4", "nvidia-tesla-t4"},
      {"TPU v5p", "tpu-v5p-slice"},
      {"nvidia", "NVIDIA-H100-80GB-HBM3"},
  };
  for (const auto& [model, product] : matching) {
    EXPECT_TRUE(MatchesProduct(model, product)) << model << " and " << product;
  }
}

TEST(MatchesProduct, NoPartOfAWord) {
  const std::pair<const char*, const char*> others[] = {
      {"H200", "NVIDIA-GH200-480GB"},
      {"H100", "GH100"},
      {"A10", "NVIDIA-A100-SXM4-40GB"},
      {"A100", "NVIDIA-A10"},
      {"A10", "NVIDIA-A10G"},
      {"L4", "NVIDIA-L40S"},
      {"L40", "NVIDIA-L40S"},
      {"H100", "NVIDIA-H200"},
      {"H100 PCIe", "NVIDIA-H100-NVL"},
      {"MI300X", "Instinct_MI300A"},
      {"B200", "NVIDIA-GB200"},
      {"V100", "nvidia-tesla-p100"},
      {"A100", ""},
      {"", "A100"},
      {"-", "A100"},
  };
  for (const auto& [model, product] : others) {
    EXPECT_FALSE(MatchesProduct(model, product)) << model << " and " << product;
  }
}

TEST(ProductOfInstanceTypeTest, NamesAmdsDevicesAndTheirVirtualFunctions) {
  const std::pair<const char*, const char*> cases[] = {
      {"74a1", "MI300X"}, {"74b5", "MI300X"},    {"74a9", "MI300X-HF"}, {"74bd", "MI300X-HF"},
      {"74a0", "MI300A"}, {"74a2", "MI308X"},    {"74b6", "MI308X"},    {"74a8", "MI308X-HF"},
      {"74a5", "MI325X"}, {"74b9", "MI325X"},    {"75a0", "MI350X"},    {"75b0", "MI350X"},
      {"75a3", "MI355X"}, {"75b3", "MI355X"},    {"75a8", "MI350P"},    {"75b8", "MI350P"},
      {"740f", "MI210"},  {"7410", "MI210"},     {"7408", "MI250X"},    {"74ff", ""},
      {"74B5", "MI300X"}, {"74bc", "MI308X-HF"}, {"740c", "MI250"},
  };
  for (const auto& [device, product] : cases) {
    EXPECT_EQ(ProductOfInstanceType(device), product) << device;
  }
}

TEST(ProductOfInstanceTypeTest, NamesTheAcceleratorOfACloudsType) {
  const std::pair<const char*, const char*> cases[] = {
      {"p4d.24xlarge", "A100-40GB"},
      {"p4de.24xlarge", "A100-80GB"},
      {"p5.48xlarge", "H100"},
      {"p5en.48xlarge", "H200"},
      {"p6-b200.48xlarge", "B200"},
      {"p6e-gb200.36xlarge", "GB200"},
      {"g6.48xlarge", "L4"},
      {"g6e.48xlarge", "L40S"},
      {"g5.xlarge", "A10G"},
      {"trn2.48xlarge", "Trainium2"},
      {"a2-highgpu-8g", "A100-40GB"},
      {"a2-ultragpu-8g", "A100-80GB"},
      {"a3-megagpu-8g", "H100"},
      {"a4-highgpu-8g", "B200"},
      {"a4x-highgpu-4g", "GB200"},
      {"g2-standard-96", "L4"},
      {"ct5lp-hightpu-4t", "TPU-v5e"},
      {"Standard_ND96asr_v4", "A100-40GB"},
      {"Standard_ND96amsr_A100_v4", "A100-80GB"},
      {"Standard_NC48ads_A100_v4", "A100-80GB-PCIe"},
      {"Standard_NC80adis_H100_v5", "H100-NVL"},
      {"Standard_ND96isr_H100_v5", "H100"},
      {"Standard_ND40rs_v2", "V100-32GB"},
      {"BM.GPU4.8", "A100-40GB"},
      {"BM.GPU.B4.8", "A100-40GB"},
      {"BM.GPU.A100-v2.8", "A100-80GB"},
      {"gd-8xh100ib-i128", "H100"},
      {"gpu-mi300x8-1536gb", "MI300X"},
      {"ecs.ebmgn7e.32xlarge", "A100-80GB"},
      {"m7i.large", ""},
      {"Standard_D8s_v3", ""},
      {"n2-standard-8", ""},
      {"", ""},
  };
  for (const auto& [type, product] : cases) {
    EXPECT_EQ(ProductOfInstanceType(type), product) << type;
  }
}

}  // namespace
}  // namespace weft::fabric
