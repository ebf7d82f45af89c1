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

TEST(DecodeFabricTest, WhatNeedsTheWholeSpecIsNamedToo) {
  struct Bad {
    std::string name, spec, want;
  };
  const std::vector<Bad> cases = {
      {"a preset and levels", R"({"preset": "TopographV1", "levels": []})",
       "spec.levels: [] must be absent where a preset is given"},
      {"neither", "{}", "spec.levels: is required where no preset is given"},
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
