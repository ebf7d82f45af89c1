#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "operator/api/decode.h"

namespace weft::api {
namespace {

using nlohmann::json;

Result<Fabric> Decode(const std::string& spec) {
  return DecodeFabric(
      {{"kind", "Fabric"}, {"metadata", {{"name", "f"}}}, {"spec", json::parse(spec)}},
      "fabric.yaml");
}

TEST(DecodeFabricTest, TheCliqueLabelNeedsAComputeDomainUnlessSaidOtherwise) {
  const auto clique = Decode(R"({"levels": [], "scaleUp": {"labelKey": "nvidia.com/gpu.clique"}})");
  const auto other = Decode(R"({"levels": [], "scaleUp": {"labelKey": "example.com/hive"}})");
  const auto said = Decode(
      R"({"levels": [], "scaleUp": {"labelKey": "nvidia.com/gpu.clique", "requires": "Nothing"}})");
  ASSERT_TRUE(clique && other && said);
  EXPECT_EQ(clique->spec.scale_up->requires_claim, fabric::ScaleUpRequires::kComputeDomain);
  EXPECT_EQ(other->spec.scale_up->requires_claim, fabric::ScaleUpRequires::kNothing);
  EXPECT_EQ(said->spec.scale_up->requires_claim, fabric::ScaleUpRequires::kNothing);
}

TEST(DecodeFabricTest, AbsentFieldsTakeTheirDefaults) {
  const auto decoded = Decode(R"({"levels": [{"name": "leaf", "labelKey": "rack"}]})");
  ASSERT_TRUE(decoded) << decoded.error().message;
  fabric::FabricSpec want;
  want.name = "f";
  want.levels = {{"leaf", "rack", fabric::Identity::kValue, {}}};
  EXPECT_EQ(decoded->spec, want);
  EXPECT_EQ(decoded->place, "fabric.yaml: Fabric f");
}

TEST(DecodeFabricTest, AcceleratorsMemoryAndPowerAreRead) {
  const auto decoded =
      Decode(R"({"levels": [{"name": "rack", "labelKey": "r", "powerWatts": 30000}],
      "pooledMemory": {"perGPU": "512Gi", "bandwidthPerGPU": "63G"},
      "accelerators": [{"name": "X1", "products": ["Acme X1"], "memory": "128G",
        "peakFLOPS": {"bf16": "1200T"}, "memoryBandwidth": "4T", "powerWatts": 800,
        "calibratedAs": "H100", "source": "Acme, 2026"}]})");
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->spec.levels[0].power_watts, 30'000);
  EXPECT_EQ(decoded->spec.pooled_memory, (fabric::PooledMemorySpec{512LL << 30, 63'000'000'000}));
  ASSERT_EQ(decoded->spec.accelerators.size(), 1u);
  const fabric::AcceleratorSpec& one = decoded->spec.accelerators[0];
  EXPECT_EQ(one.bf16, 1'200'000'000'000'000);
  EXPECT_EQ(one.fp8, 0);
  EXPECT_EQ(one.memory_bytes, 128'000'000'000);
  EXPECT_EQ(one.products, std::vector<std::string>{"Acme X1"});
  EXPECT_EQ(one.calibrated_as, "H100");
}

TEST(DecodeFabricTest, AFileOfAcceleratorsNamesWhatIsWrong) {
  const auto why = [](const char* text) {
    const auto decoded = DecodeAcceleratorFile(json::parse(text), "acme.yaml");
    return decoded ? "" : decoded.error().message;
  };
  const std::string good = R"({"name": "X1", "peakFLOPS": {"bf16": "1P"}, "memory": "96Gi",
      "memoryBandwidth": "3T", "powerWatts": 500})";
  EXPECT_EQ(why((R"({"accelerators": [)" + good + "]}").c_str()), "");
  EXPECT_EQ(why(R"({})"), "acme.yaml: accelerators: is required");
  EXPECT_EQ(why((R"({"accelerators": [)" + good + "," + good + "]}").c_str()),
            "acme.yaml: accelerators[1].name: \"X1\" is given twice");
  EXPECT_EQ(why(R"({"accelerators": [{"name": "X1", "peakFLOPS": {"fp16": "1P"}}]})"),
            "acme.yaml: accelerators[0].peakFLOPS.fp16: unknown field");
  EXPECT_EQ(why(R"({"accelerators": [{"name": "X1", "peakFLOPS": {"bf16": "0"}}]})"),
            "acme.yaml: accelerators[0].peakFLOPS.bf16: \"0\" must be at least 1");
}

TEST(DecodeFabricTest, NamesTheFieldOfAnInvalidSpec) {
  struct Bad {
    std::string name, spec, want;
  };
  const std::vector<Bad> cases = {
      {"a preset and levels", R"({"preset": "TopographV1", "levels": []})",
       "spec.levels: [] must be absent where a preset is given"},
      {"neither", "{}", "spec.levels: is required where no preset is given"},
      {"a limit of power without a preset",
       R"({"levels": [], "powerLimits": [{"level": "leaf", "watts": 1}]})",
       "spec.powerLimits: is for a preset; a level has its own powerWatts"},
      {"a limit twice",
       R"({"preset": "AWS", "powerLimits": [{"level": "leaf", "watts": 1},
          {"level": "leaf", "watts": 2}]})",
       "spec.powerLimits[1].level: \"leaf\" is given twice"},
      {"a limit without watts", R"({"preset": "AWS", "powerLimits": [{"level": "leaf"}]})",
       "spec.powerLimits[0].watts: is required"},
      {"a reserved name", R"({"levels": [{"name": "outside", "labelKey": "x"}]})",
       "spec.levels[0].name: \"outside\" is reserved"},
      {"a level twice",
       R"({"levels": [{"name": "a", "labelKey": "x"}, {"name": "a", "labelKey": "y"}]})",
       "spec.levels[1].name: \"a\" is already the name of a wider level"},
      {"an unknown link type", R"({"levels": [], "nodeLink": {"type": "Tokens"}})",
       "spec.nodeLink.type: \"Tokens\" is not a known link type; give bandwidthPerGPU with it"},
  };
  for (const Bad& c : cases) {
    const auto decoded = Decode(c.spec);
    ASSERT_FALSE(decoded) << c.name;
    EXPECT_EQ(decoded.error().message, "fabric.yaml: Fabric f: " + c.want) << c.name;
  }
}

}  // namespace
}  // namespace weft::api
