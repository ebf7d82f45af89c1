#include "operator/fabric/unlabelled_kinds.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "operator/fabric/fabric.h"

namespace weft::fabric {
namespace {

constexpr const char* kProduct = "nvidia.com/gpu.product";
constexpr const char* kLeaf = "fabric.topograph.run/tier-0";
constexpr const char* kSpine = "fabric.topograph.run/tier-1";
constexpr const char* kType = "node.kubernetes.io/instance-type";

using Labels = std::map<std::string, std::string>;

NodeFacts Node(const std::string& name, const Labels& labels,
               const std::string& resource = "nvidia.com/gpu") {
  NodeFacts node;
  node.name = name;
  node.labels = labels;
  node.allocatable = {{resource, 8}};
  return node;
}

NodeFacts H100(const std::string& name, const std::string& leaf) {
  return Node(name, {{kProduct, "NVIDIA-H100-80GB-HBM3"}, {kLeaf, leaf}, {kSpine, "s1"}});
}

// "h0: s1/leaf0", a node a line; then "NAME is incomplete"; then "KIND without LEVEL: NODES".
std::string Show(FabricSpec spec, const std::vector<NodeFacts>& nodes) {
  const Result<Fabric> built = Fabric::Build(std::move(spec), nodes, {});
  if (!built) return built.error().message;
  std::string text;
  for (const NodeIndex n : Range<NodeIndex>(built->node_count())) {
    text += built->node(n).name + ":";
    for (Tier t{1}; t < built->node_tier(); ++t) {
      const TierDomains& domains = built->domains(t);
      text += " " + domains.names[domains.of_node[n]];
    }
    text += "\n";
  }
  for (const IncompleteNode& node : built->incomplete()) text += node.node + " is incomplete\n";
  for (const UnlabelledKind& kind : built->unlabelled_kinds()) {
    text += kind.kind + " without " + kind.level + ":";
    for (const std::string& node : kind.nodes) text += " " + node;
    text += "\n";
  }
  return text;
}

std::string Show(const std::vector<NodeFacts>& nodes, const std::string& preset = "TopographV1") {
  FabricSpec spec;
  spec.preset = preset;
  return Show(std::move(spec), nodes);
}

TEST(UnlabelledKinds, AreAFlatPoolBesideTheLabelledOnes) {
  const Labels l40s = {{kProduct, "NVIDIA-L40S"}};
  EXPECT_EQ(Show({H100("h0", "leaf0"), H100("h1", "leaf1"), Node("l0", l40s), Node("l1", l40s)}),
            "h0: s1 leaf0\n"
            "h1: s1 leaf1\n"
            "l0: unlabelled-NVIDIA-L40S unlabelled-NVIDIA-L40S\n"
            "l1: unlabelled-NVIDIA-L40S unlabelled-NVIDIA-L40S\n"
            "NVIDIA-L40S without spine: l0 l1\n");
}

TEST(UnlabelledKinds, EachHasItsOwnPool) {
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("l0", {{kProduct, "NVIDIA-L40S"}}),
                  Node("t0", {{kProduct, "Tesla-T4"}}), Node("x0", {}, "amd.com/gpu")}),
            "h0: s1 leaf0\n"
            "l0: unlabelled-NVIDIA-L40S unlabelled-NVIDIA-L40S\n"
            "t0: unlabelled-Tesla-T4 unlabelled-Tesla-T4\n"
            "x0: unlabelled-amd.com/gpu unlabelled-amd.com/gpu\n"
            "NVIDIA-L40S without spine: l0\n"
            "Tesla-T4 without spine: t0\n"
            "amd.com/gpu without spine: x0\n");
}

TEST(UnlabelledKinds, PlaceholdersAreNoLabels) {
  const Labels l40s = {{kProduct, "NVIDIA-L40S"}, {kLeaf, "unknown"}, {kSpine, "none"}};
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("l0", l40s)}),
            "h0: s1 leaf0\n"
            "l0: unlabelled-NVIDIA-L40S unlabelled-NVIDIA-L40S\n"
            "NVIDIA-L40S without spine: l0\n");
}

TEST(UnlabelledKinds, ANodeOfALabelledKindIsIncomplete) {
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("h1", {{kProduct, "NVIDIA-H100-80GB-HBM3"}})}),
            "h0: s1 leaf0\nh1 is incomplete\n");
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("h1", {{kProduct, "NVIDIA-H100-80GB-HBM3-SHARED"}})}),
            "h0: s1 leaf0\nh1 is incomplete\n");
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("h1", {})}), "h0: s1 leaf0\nh1 is incomplete\n")
      << "feature discovery has not labelled it either";
  NodeFacts typed = H100("h0", "leaf0");
  typed.labels.Set(kType, "p5.48xlarge");
  EXPECT_EQ(Show({typed, Node("h1", {{kType, "p5.48xlarge"}})}),
            "h0: s1 leaf0\nh1 is incomplete\n");
}

// Their cloud has labelled the new ones, neither feature discovery nor the network's labeller has.
TEST(UnlabelledKinds, NewNodesOfALabelledKindAreIncomplete) {
  const char* cloud = "karpenter.k8s.aws/instance-gpu-name";
  const auto known = [&](const std::string& name, const std::string& leaf) {
    NodeFacts node = H100(name, leaf);
    node.labels.Set(kType, "p5.48xlarge");
    node.labels.Set(cloud, "h100");
    return node;
  };
  const Labels fresh = {{kType, "p5.48xlarge"}, {cloud, "h100"}};
  EXPECT_EQ(
      Show({known("h0", "leaf0"), known("h1", "leaf1"), Node("n0", fresh), Node("n1", fresh)}),
      "h0: s1 leaf0\nh1: s1 leaf1\nn0 is incomplete\nn1 is incomplete\n");
}

// H100s, each given as "TYPE" or "TYPE=LEAF", where the type may be empty.
std::vector<NodeFacts> H100sOf(const std::vector<std::string>& all) {
  std::vector<NodeFacts> nodes;
  for (const std::string& one : all) {
    const std::size_t end = std::min(one.find('='), one.size());
    Labels labels = {{kProduct, "H100"}};
    if (end > 0) labels[kType] = one.substr(0, end);
    if (end < one.size()) labels.insert({{kSpine, "s1"}, {kLeaf, one.substr(end + 1)}});
    nodes.push_back(Node("n" + std::to_string(nodes.size()), labels));
  }
  return nodes;
}

TEST(UnlabelledKinds, OneProductOnAnotherMachineTypeIsAKind) {
  EXPECT_EQ(Show(H100sOf({"p5.48xlarge=a", "p5.48xlarge=b", "p5.4xlarge", "p5.4xlarge"})),
            "n0: s1 a\n"
            "n1: s1 b\n"
            "n2: unlabelled-H100 on p5.4xlarge unlabelled-H100 on p5.4xlarge\n"
            "n3: unlabelled-H100 on p5.4xlarge unlabelled-H100 on p5.4xlarge\n"
            "H100 on p5.4xlarge without spine: n2 n3\n");
  EXPECT_EQ(Show(H100sOf({"p5.48xlarge=a", "p5.48xlarge", "p5.4xlarge", "p5e"})),
            "n0: s1 a\n"
            "n2: unlabelled-H100 on p5.4xlarge unlabelled-H100 on p5.4xlarge\n"
            "n3: unlabelled-H100 on p5e unlabelled-H100 on p5e\n"
            "n1 is incomplete\n"
            "H100 on p5.4xlarge without spine: n2\n"
            "H100 on p5e without spine: n3\n");
}

TEST(UnlabelledKinds, MachinesWhoseTypeIsUnknownMayBeOfAnyType) {
  EXPECT_EQ(Show(H100sOf({"p5.48xlarge=a", ""})), "n0: s1 a\nn1 is incomplete\n");
  EXPECT_EQ(Show(H100sOf({"p5.48xlarge=a", "unknown"})), "n0: s1 a\nn1 is incomplete\n");
  EXPECT_EQ(Show(H100sOf({"=a", "p5.48xlarge"})), "n0: s1 a\nn1 is incomplete\n");
}

TEST(UnlabelledKinds, AllTypesOfAProductThatHasNoLabelsAreOneKind) {
  std::vector<NodeFacts> nodes = H100sOf({"p5.48xlarge=a"});
  nodes.push_back(Node("x0", {{kProduct, "L40S"}, {kType, "g6e.12xlarge"}}));
  nodes.push_back(Node("x1", {{kProduct, "L40S"}, {kType, "g6e.48xlarge"}}));
  EXPECT_EQ(Show(nodes),
            "n0: s1 a\n"
            "x0: unlabelled-L40S unlabelled-L40S\n"
            "x1: unlabelled-L40S unlabelled-L40S\n"
            "L40S without spine: x0 x1\n");
}

TEST(UnlabelledKinds, AKindMayLackOnlyTheNarrowestLevel) {
  const std::string layer = "topology.k8s.aws/network-node-layer-";
  const Labels p6 = {{kType, "p6-b200.48xlarge"},
                     {layer + "1", "a"},
                     {layer + "2", "b"},
                     {layer + "3", "c"},
                     {layer + "4", "d"}};
  const Labels p5 = {
      {kType, "p5.48xlarge"}, {layer + "1", "a"}, {layer + "2", "b"}, {layer + "3", "e"}};
  EXPECT_EQ(Show({Node("m", p6), Node("n", p5), Node("o", p5)}, "AWS"),
            "m: a b c d\n"
            "n: a b e e/unlabelled-p5.48xlarge\n"
            "o: a b e e/unlabelled-p5.48xlarge\n"
            "p5.48xlarge without leaf: n o\n");
  EXPECT_EQ(Show({H100("h0", "leaf0"), Node("l0", {{kProduct, "NVIDIA-L40S"}, {kLeaf, "leaf9"}})}),
            "h0: s1 leaf0\nl0 is incomplete\n")
      << "a leaf without its spine";
}

TEST(UnlabelledKinds, NeedLabelledOnesBesideThem) {
  EXPECT_EQ(Show({Node("l0", {{kProduct, "NVIDIA-L40S"}})}), "l0 is incomplete\n");
  FabricSpec spec;
  spec.levels = {{"rack", "mistyped", Identity::kValue, {}}, {"leaf", kLeaf, Identity::kValue, {}}};
  EXPECT_EQ(Show(spec, {H100("h0", "leaf0"), Node("l0", {{kProduct, "NVIDIA-L40S"}})}),
            "h0 is incomplete\nl0 is incomplete\n");
}

TEST(UnlabelledKinds, AreNamedUnderTheirParentsPath) {
  const char* const rack = "topology.kubernetes.io/rack";
  const char* const zone = "topology.kubernetes.io/zone";
  const Labels h100 = {{kProduct, "NVIDIA-H100-80GB-HBM3"}, {rack, "r1"}, {zone, "z"}};
  EXPECT_EQ(Show({Node("h0", h100), Node("l0", {{kProduct, "NVIDIA-L40S"}, {zone, "z"}}),
                  Node("l1", {{kProduct, "NVIDIA-L40S"}, {zone, "y"}})},
                 "RackZone"),
            "h0: z z/r1\n"
            "l0: z z/unlabelled-NVIDIA-L40S\n"
            "l1: y y/unlabelled-NVIDIA-L40S\n"
            "NVIDIA-L40S without leaf: l0 l1\n");
}

TEST(UnlabelledKinds, HaveAllTheirRails) {
  FabricSpec spec;
  spec.levels = {{"leaf", "", Identity::kValue, {}}};
  spec.rails = RailsSpec{.count = 2, .leaf_label_keys = {"rail-0", "rail-1"}};
  const Result<Fabric> built = Fabric::Build(
      spec,
      std::vector<NodeFacts>{Node("h0", {{kProduct, "H100"}, {"rail-0", "a"}, {"rail-1", "b"}}),
                             Node("l0", {{kProduct, "L40S"}})},
      {});
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_EQ(built->node_count(), 2U);
  EXPECT_EQ(built->rails_of(*built->FindNode("l0")), 2);
}

TEST(UnlabelledKinds, InATorusTheyAreIncomplete) {
  FabricSpec spec;
  spec.levels = {{"leaf", kLeaf, Identity::kValue, {}}};
  spec.torus = TorusSpec{.name = "torus", .dimensions = {{"x", 2, true}}, .level = "", .link = {}};
  NodeFacts h0 = H100("h0", "leaf0");
  h0.labels.Set("x", "0");
  EXPECT_EQ(Show(spec, {h0, Node("l0", {{kProduct, "NVIDIA-L40S"}})}),
            "h0: leaf0\nl0 is incomplete\n");
}

}  // namespace
}  // namespace weft::fabric
