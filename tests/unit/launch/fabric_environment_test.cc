#include "operator/launch/fabric_environment.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::launch {
namespace {

using Json = nlohmann::json;

struct Case {
  std::string name;  // reads as a sentence
  fabric::FabricSpec spec;
  std::string resource, pod_spec;
  Environment want;
};

fabric::FabricSpec Spec(const std::string& link, bool rails) {
  fabric::FabricSpec spec;
  fabric::LevelSpec leaf;
  leaf.name = "leaf";
  leaf.link = fabric::LinkSpec{};
  leaf.link->type = link;
  spec.levels.push_back(leaf);
  if (rails) spec.rails = fabric::RailsSpec{8, {}};
  return spec;
}

fabric::FabricSpec With(fabric::FabricSpec spec,
                        std::vector<fabric::EnvironmentVariable> environment) {
  spec.environment = std::move(environment);
  return spec;
}

TEST(FabricEnvironmentTest, SaysWhatTheNetworkIsAndWhatTheAdministratorWants) {
  const std::string nvidia = "nvidia.com/gpu", amd = "amd.com/gpu";
  const Environment first = {{"NCCL_SOCKET_IFNAME", "eth0"}};
  const std::vector<Case> cases = {
      {"data goes over InfiniBand, first contact over the pod's own interface",
       Spec("InfiniBandNDR", false), nvidia, "{}", first},
      {"RCCL reads the same names", Spec("RoCE400", false), amd, "{}", first},
      {"rings stay on their rails",
       Spec("InfiniBandNDR", true),
       nvidia,
       "{}",
       {{"NCCL_CROSS_NIC", "0"}, {"NCCL_SOCKET_IFNAME", "eth0"}}},
      {"a node's own network has other interfaces",
       Spec("InfiniBandNDR", false),
       nvidia,
       R"({"hostNetwork": true})",
       {}},
      {"of other networks nothing is known", Spec("EFAP5", false), nvidia, "{}", {}},
      {"nor of other accelerators", Spec("InfiniBandNDR", true), "google.com/tpu", "{}", {}},
      {"the administrator adds and takes away",
       With(Spec("InfiniBandNDR", true), {{"NCCL_SOCKET_IFNAME", ""}, {"NCCL_IB_HCA", "=mlx5_0"}}),
       nvidia,
       "{}",
       {{"NCCL_CROSS_NIC", "0"}, {"NCCL_IB_HCA", "=mlx5_0"}}},
      {"and replaces",
       With(Spec("", true), {{"NCCL_CROSS_NIC", "1"}}),
       nvidia,
       "{}",
       {{"NCCL_CROSS_NIC", "1"}}},
  };
  for (const Case& c : cases) {
    api::TrainingJob job;
    job.accelerator.resource_name = c.resource;
    Json object;
    object["spec"]["workers"]["template"]["spec"] = Json::parse(c.pod_spec);
    job.raw = std::make_shared<const Json>(std::move(object));
    EXPECT_EQ(FabricEnvironment(c.spec, job), c.want) << c.name;
  }
}

fabric::NodeFacts Node(const std::string& name, const std::string& leaf,
                       const std::string& clique) {
  fabric::NodeFacts node;
  node.name = name;
  node.labels = {{"leaf", leaf}, {"clique", clique}};
  node.conditions = {{"Ready", "True"}};
  node.allocatable = {{"nvidia.com/gpu", 8}};
  return node;
}

fabric::Fabric Built(const std::vector<fabric::NodeFacts>& nodes) {
  fabric::FabricSpec spec;
  fabric::LevelSpec leaf;
  leaf.name = "leaf";
  leaf.label_key = "leaf";
  spec.levels.push_back(leaf);
  spec.scale_up = fabric::ScaleUpSpec{};
  spec.scale_up->label_key = "clique";
  SharedList<fabric::NodeFacts> list;
  for (const auto& node : nodes) {
    list.push_back(std::make_shared<const fabric::NodeFacts>(node));
  }
  auto built = fabric::Fabric::Build(spec, std::move(list), {});
  EXPECT_TRUE(built) << built.error().message;
  return *std::move(built);
}

TEST(GangLevelsTest, DomainsAreNumberedAsWorkersComeToThem) {
  const auto on = Built({Node("a", "l1", "c1"), Node("b", "l1", "c2"), Node("c", "l2", "c3")});
  EXPECT_EQ(GangLevels(on, {}, {"c", "b", "a"}),
            (std::vector<GangLevel>{{"leaf", {"l2", "l1"}, {0, 1, 1}, false},
                                    {"nvlink", {"c3", "c2", "c1"}, {0, 1, 2}, true}}));
}

TEST(GangLevelsTest, AScaleUpNetworkThatCrossesLevelsIsTheLast) {
  const auto on = Built({Node("a", "l1", "c1"), Node("b", "l1", "c2"), Node("c", "l2", "c2")});
  EXPECT_EQ(GangLevels(on, {}, {"c", "b", "a"}),
            (std::vector<GangLevel>{{"leaf", {"l2", "l1"}, {0, 1, 1}, false},
                                    {"nvlink", {"c2", "c1"}, {0, 0, 1}, true}}));
}

TEST(GangLevelsTest, NodesThatTheFabricDoesNotHaveHaveNoDomains) {
  EXPECT_TRUE(GangLevels(Built({Node("a", "l1", "c1")}), {}, {"z"}).empty());
}

}  // namespace
}  // namespace weft::launch
