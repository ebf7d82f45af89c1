#include "operator/report/fabric_status.h"
#include "operator/cluster/build_cluster.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;

using Json = nlohmann::ordered_json;

constexpr UnixSeconds kNow = 1'000'000;

Json StatusOf(const api::Inputs& inputs, UnixSeconds now = kNow) {
  return FabricStatus(inputs.fabrics.front(),
                      *cluster::BuildFabrics(inputs, cluster::OnBadFabric::kSetAside), now);
}

// "Type=Status Reason" of each.
std::vector<std::string> Conditions(const Json& status) {
  std::vector<std::string> texts;
  for (const Json& one : status.at("conditions")) {
    texts.push_back(one["type"].get<std::string>() + "=" + one["status"].get<std::string>() + " " +
                    one["reason"].get<std::string>());
  }
  return texts;
}

std::string MessageOf(const Json& status, const std::string& type) {
  for (const Json& one : status.at("conditions")) {
    if (one["type"] == type) return one["message"];
  }
  return "";
}

TEST(FabricStatusTest, CountsWhatTheNodesAre) {
  const testing::Scene scene(testing::Leaves({{8, 8}, {8, 4}}));
  const Json status = StatusOf(scene.inputs);
  EXPECT_EQ(status["nodes"], 4);
  EXPECT_EQ(status["accelerators"], 32);
  EXPECT_EQ(status["incompleteCount"], 0);
  EXPECT_FALSE(status.contains("incomplete"));
  ASSERT_EQ(status["levels"].size(), 2U);
  EXPECT_EQ(status["levels"][1]["name"], "leaf");
  EXPECT_EQ(status["levels"][1]["domains"], 2);
  EXPECT_EQ(MessageOf(status, "Valid"), "4 nodes with 32 accelerators");
}

TEST(FabricStatusTest, NamesANodeThatLacksALabel) {
  testing::Scene scene(testing::Leaves({{8, 8}, {8, 8}}));
  scene.inputs.nodes.Edit(1).facts.labels = {};
  const Json status = StatusOf(scene.inputs);
  EXPECT_EQ(status["nodes"], 3);
  EXPECT_EQ(status["incompleteCount"], 1);
  EXPECT_EQ(status["incomplete"][0], Json({{"node", "n1"}, {"missing", "spine"}}));
  EXPECT_EQ(Conditions(status)[2], "NodesComplete=False LabelMissing");
}

TEST(FabricStatusTest, AFabricThatCannotBeBuiltSaysWhy) {
  testing::Scene scene(testing::Leaves({{8, 8}}));
  scene.inputs.fabrics[0].spec.preset = "Nonsense";
  const Json status = StatusOf(scene.inputs);
  EXPECT_EQ(Conditions(status), (std::vector<std::string>{"Valid=False Invalid"}));
  EXPECT_EQ(MessageOf(status, "Valid"), "spec.preset: give either a preset or levels, not both");
}

TEST(FabricStatusTest, ATimeMovesOnlyWithTheStatus) {
  testing::Scene scene(testing::Leaves({{8, 8}, {8, 8}}));
  const Json first = StatusOf(scene.inputs);
  scene.inputs.fabrics[0].raw =
      std::make_shared<const nlohmann::json>(nlohmann::json{{"status", nlohmann::json(first)}});
  EXPECT_EQ(StatusOf(scene.inputs, kNow + 60), first);
  scene.inputs.nodes.Edit(1).facts.labels = {};
  const Json second = StatusOf(scene.inputs, kNow + 60);
  EXPECT_EQ(second["conditions"][0]["lastTransitionTime"],
            first["conditions"][0]["lastTransitionTime"]);
  EXPECT_EQ(second["conditions"][2]["lastTransitionTime"], FormatTime(kNow + 60));
}

TEST(FabricStatusTest, AShapeOfADomainWithoutNodesIsTold) {
  testing::FabricShape shape = testing::Leaves({{8, 8}});
  shape.torus = {{"", 2, true}};
  shape.torus_level = "spine";
  shape.torus_shapes = {{{"s0", "s8"}, {4}, {}}};
  for (int n = 0; n < 2; ++n) shape.nodes[static_cast<std::size_t>(n)].torus = {n};
  const testing::Scene scene(shape);
  EXPECT_EQ(MessageOf(StatusOf(scene.inputs), "TorusShapeUnused"),
            "torus.shapes names domains of spine that have no complete node: s8");
}

TEST(FabricStatusTest, NodesOfTwoFabricsAreTold) {
  testing::Scene scene(testing::Leaves({{8, 8}}));
  scene.inputs.fabrics.push_back(scene.inputs.fabrics[0]);
  scene.inputs.fabrics[1].meta.key.name = "other";
  const Json status = StatusOf(scene.inputs);
  EXPECT_EQ(status["nodes"], 0);
  EXPECT_NE(MessageOf(status, "Overlapping").find("2 nodes"), std::string::npos);
}

}  // namespace
}  // namespace weft::report
