#include "operator/report/failure_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using Json = nlohmann::json;

Result<FailureFile> Decode(const char* text) {
  return DecodeFailureFile(Json::parse(text), "rates.yaml", {"leaf", "spine"});
}

std::string Why(const char* text) {
  const auto file = Decode(text);
  return file ? "" : file.error().message;
}

// Two leaves of two nodes, as tests/support/fabric_builder.h names their levels.
FailureModel ModelOf(const FailureSources& sources,
                     std::vector<fabric::FailureRateSpec> rates = {}) {
  testing::Scene scene(testing::FourNodes());
  api::Fabric& fabric = scene.inputs.fabrics[0];
  fabric.spec.failure_rates = std::move(rates);
  const cluster::Cluster cluster = scene.Build();
  const auto model = FailureModelOf(*cluster.fabrics.front().fabric, sources);
  EXPECT_TRUE(model) << model.error().message;
  return model ? *model : FailureModel();
}

TEST(FailureModelTest, AFileNamesNodesLevelsAndTheShareWithoutANode) {
  const auto file = Decode(R"({"node": {"failuresPer1000Days": 3.79, "repairSeconds": 14400},
      "leaf": {"failuresPer1000Days": 0.4, "repairSeconds": 7200}, "shareWithoutNode": 0.75})");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name, "rates.yaml");
  EXPECT_EQ(file->node->per_1000_days, 3.79);
  EXPECT_EQ(file->node->repair_seconds, 14'400);
  ASSERT_EQ(file->levels.size(), 1u);
  EXPECT_EQ(file->levels[0].level, "leaf");
  EXPECT_EQ(file->levels[0].rate.per_1000_days, 0.4);
  EXPECT_EQ(file->share_without_node, 0.75);
}

TEST(FailureModelTest, NamesTheInvalidFieldOfTheFile) {
  struct Case {
    const char* text;
    const char* want;
  };
  constexpr Case kCases[] = {
      {R"({"rack": {"failuresPer1000Days": 1, "repairSeconds": 60}})",
       "rates.yaml: rack: is not a level of the Fabric; the file may name leaf, spine, node and "
       "shareWithoutNode"},
      {R"({"node": {"repairSeconds": 60}})", "rates.yaml: node.failuresPer1000Days: is required"},
      {R"({"node": {"failuresPer1000Days": 1}})", "rates.yaml: node.repairSeconds: is required"},
      {R"({"node": {"failuresPer1000Days": 1, "repairSeconds": 60, "mtbf": 2}})",
       "rates.yaml: node.mtbf: unknown field"},
      {R"({"node": {"failuresPer1000Days": -1, "repairSeconds": 60}})",
       "rates.yaml: node.failuresPer1000Days: -1 must be from 0 to 100000"},
      {R"({"node": {"failuresPer1000Days": "many", "repairSeconds": 60}})",
       "rates.yaml: node.failuresPer1000Days: \"many\" must be a number"},
      {R"({"node": {"failuresPer1000Days": 1, "repairSeconds": 0}})",
       "rates.yaml: node.repairSeconds: 0 must be from 1 to 2147483647"},
      {R"({"node": {"failuresPer1000Days": 2000, "repairSeconds": 86400}})",
       "rates.yaml: node.failuresPer1000Days: 2000 is too high: so many failures, each away for 1 "
       "d, leave no time in which it runs"},
      {R"({"node": 3.79})", "rates.yaml: node: 3.79 must be an object"},
      {R"([1, 2])", "rates.yaml: [1, 2] must be an object"},
      {R"({"node": {"failuresPer1000Days": 1, "repairSeconds": 60}, "shareWithoutNode": 75})",
       "rates.yaml: shareWithoutNode: 75 must be from 0 to 1"},
      {R"({"shareWithoutNode": 0.75})",
       "rates.yaml: shareWithoutNode: 0.75 needs the rate of node"},
  };
  for (const Case& one : kCases) EXPECT_EQ(Why(one.text), one.want);
}

TEST(FailureModelTest, TheFirstThatNamesARateDecides) {
  const std::vector<fabric::FailureRateSpec> of_fabric = {{"node", 5, 600}, {"leaf", 1, 60}};
  FailureSources sources;

  FailureModel model = ModelOf(sources);
  EXPECT_TRUE(model.assumed);
  EXPECT_EQ(model.node.per_1000_days, 3.79);
  EXPECT_EQ(model.node.repair_seconds, 14'400);
  EXPECT_TRUE(model.levels.empty());

  model = ModelOf(sources, of_fabric);
  EXPECT_FALSE(model.assumed);
  EXPECT_EQ(model.from, "Fabric default");
  EXPECT_EQ(model.node.per_1000_days, 5);
  ASSERT_NE(model.Find("leaf"), nullptr);
  EXPECT_EQ(model.Find("leaf")->per_1000_days, 1);
  EXPECT_EQ(model.Find("spine"), nullptr);

  sources.file = *Decode(R"({"node": {"failuresPer1000Days": 8, "repairSeconds": 1200},
      "leaf": {"failuresPer1000Days": 2, "repairSeconds": 60}, "shareWithoutNode": 0.75})");
  model = ModelOf(sources, of_fabric);
  EXPECT_EQ(model.from, "rates.yaml");
  EXPECT_EQ(model.node.per_1000_days, 8);
  EXPECT_EQ(model.Away().per_1000_days, 2);  // a quarter takes the node away
  EXPECT_EQ(model.Find("leaf")->per_1000_days, 2);

  sources.repair_seconds = 3600;
  model = ModelOf(sources, of_fabric);
  EXPECT_EQ(model.node.per_1000_days, 8);
  EXPECT_EQ(model.node.repair_seconds, 3600);

  sources.per_1000_node_days = 6.5;
  model = ModelOf(sources, of_fabric);
  EXPECT_EQ(model.from, "--failures");
  EXPECT_EQ(model.repair_from, "--repair-seconds");
  EXPECT_EQ(model.Away().per_1000_days, 6.5 / 4);  // the file's share stays
  EXPECT_EQ(model.Find("leaf")->per_1000_days, 2);
}

TEST(FailureModelTest, AnOptionReplacesItsOwnFigureOnly) {
  FailureSources sources;
  sources.per_1000_node_days = 6.5;
  const FailureModel model = ModelOf(sources, {{"node", 5, 600}});
  EXPECT_EQ(model.node.per_1000_days, 6.5);
  EXPECT_EQ(model.node.repair_seconds, 600);
  EXPECT_EQ(model.from, "--failures");
  EXPECT_EQ(model.repair_from, "Fabric default");
}

TEST(FailureModelTest, RefusesNodesThatWouldAlwaysBeAway) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics[0].spec.failure_rates = {{"leaf", 1000, 86'400}};
  const cluster::Cluster cluster = scene.Build();
  const fabric::Fabric& fabric = *cluster.fabrics.front().fabric;
  const auto of_fabric = FailureModelOf(fabric, {});
  ASSERT_FALSE(of_fabric);
  EXPECT_EQ(of_fabric.error().message,
            "Fabric default: spec.failureRates[0].per1000Days: so many failures, each away for 1 "
            "d, leave no time in which it runs");
  const cluster::Cluster plain = testing::Scene(testing::FourNodes()).Build();
  FailureSources sources;
  sources.per_1000_node_days = 1e9;
  const auto option = FailureModelOf(*plain.fabrics.front().fabric, sources);
  ASSERT_FALSE(option);
  EXPECT_EQ(option.error().message,
            "--failures: so many failures, each away for 4 h, leave no time in which it runs");
}

}  // namespace
}  // namespace weft::report
