#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "operator/fabric/fabric.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"

namespace weft::fabric {
namespace {

using testing::Cluster;
using testing::FabricShape;
using testing::Leaves;
using testing::MakeCluster;
using testing::Numbered;
using testing::TestNode;

TEST(BuilderTest, SaysWhyANodeIsUnusable) {
  struct Case {
    const char* name;
    TestNode node;
    const char* want;
  };
  FabricShape shape;
  shape.unusable.taints = {{"gone", "", ""}, {"part", "yes", "NoExecute"}};
  shape.unusable.conditions = {{"XidError", "True"}};
  shape.unusable.labels = {{"state", "rma"}, {"quarantine", ""}};
  const std::vector<Case> cases = {
      {"a node without conditions is ready", {}, ""},
      {"a ready node", {.conditions = {{"Ready", "True"}}}, ""},
      {"a node that is not ready", {.conditions = {{"Ready", "False"}}}, "not Ready"},
      {"a node nobody hears from", {.conditions = {{"Ready", "Unknown"}}}, "not Ready"},
      {"a cordoned node is judged elsewhere", {.unschedulable = true}, ""},
      {"any value and effect of a taint",
       {.taints = {{"gone", "x", "NoSchedule"}}},
       "taint gone=x:NoSchedule"},
      {"another value of a taint", {.taints = {{"part", "no", "NoExecute"}}}, ""},
      {"another effect of a taint", {.taints = {{"part", "yes", "NoSchedule"}}}, ""},
      {"an exact taint", {.taints = {{"part", "yes", "NoExecute"}}}, "taint part=yes:NoExecute"},
      {"a condition", {.conditions = {{"XidError", "True"}}}, "condition XidError=True"},
      {"a condition that is false", {.conditions = {{"XidError", "False"}}}, ""},
      {"a label's value", {.labels = {{"state", "rma"}}}, "label state=rma"},
      {"another value", {.labels = {{"state", "production"}}}, ""},
      {"any value of a label", {.labels = {{"quarantine", "1"}}}, "label quarantine=1"},
  };
  for (const Case& c : cases) {
    shape.nodes = {c.node};
    shape.nodes[0].name = "a";
    shape.nodes[0].domains = {"s", "l"};
    const Cluster cluster = MakeCluster(shape);
    EXPECT_EQ(cluster.fabric->unusable_why(NodeIndex{0}), c.want) << c.name;
    EXPECT_EQ(cluster.fabric->usable(NodeIndex{0}), *c.want == '\0') << c.name;
  }
}

TEST(BuilderTest, ANodeThatHealthMonitorsCallSickIsUnusableUnlessTheFabricSaysOtherwise) {
  struct Case {
    const char* name;
    TestNode node;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"an error that NVSentinel calls fatal",
       {.conditions = {{"GpuMemWatch", "True"}}},
       "condition GpuMemWatch=True"},
      {"an error that is over", {.conditions = {{"GpuMemWatch", "False"}}}, ""},
      {"a condition of EKS, which is True while all is well",
       {.conditions = {{"Ready", "True"}, {"AcceleratedHardwareReady", "False"}}},
       "condition AcceleratedHardwareReady=False"},
      {"hardware that is well", {.conditions = {{"AcceleratedHardwareReady", "True"}}}, ""},
      {"a GPU that failed Nebius' health check",
       {.conditions = {{"Ready", "True"}, {"NebiusGPUError", "True"}}},
       "condition NebiusGPUError=True"},
      {"GPUs that passed Nebius' health check", {.conditions = {{"NebiusGPUError", "False"}}}, ""},
      {"a node that the autoscaler will remove",
       {.taints = {{"ToBeDeletedByClusterAutoscaler", "1790000000", "NoSchedule"}}},
       "taint ToBeDeletedByClusterAutoscaler:NoSchedule"},
      {"a driver upgrade that drains the node",
       {.labels = {{"nvidia.com/gpu-driver-upgrade-state", "drain-required"}}},
       "label nvidia.com/gpu-driver-upgrade-state=drain-required"},
      {"a node that waits for its driver upgrade",
       {.labels = {{"nvidia.com/gpu-driver-upgrade-state", "upgrade-required"}}},
       ""},
      {"a MIG layout that could not be set",
       {.labels = {{"nvidia.com/mig.config.state", "failed"}}},
       "label nvidia.com/mig.config.state=failed"},
      {"a taint of every GPU node", {.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}}}, ""},
      {"a condition that nobody knows", {.conditions = {{"Sunny", "True"}}}, ""},
  };
  for (const Case& c : cases) {
    FabricShape shape;
    shape.nodes = {c.node};
    shape.nodes[0].name = "a";
    shape.nodes[0].domains = {"s", "l"};
    EXPECT_EQ(MakeCluster(shape).fabric->unusable_why(NodeIndex{0}), c.want) << c.name;
    shape.unusable.known_signals = false;
    EXPECT_TRUE(MakeCluster(shape).fabric->usable(NodeIndex{0})) << c.name;
  }
}

TEST(BuilderTest, ResourcesAreTheUnionOfAllNodesByName) {
  FabricShape shape = Leaves({{8, 8}});
  shape.nodes[0].allocatable = {{"rdma/ib", 4}, {"cpu", 7'000}};
  const Cluster cluster = MakeCluster(shape);
  const Fabric& fabric = *cluster.fabric;
  EXPECT_EQ(std::vector<std::string>(fabric.resources().begin(), fabric.resources().end()),
            (std::vector<std::string>{"cpu", "memory", "nvidia.com/gpu", "pods", "rdma/ib"}));
  const auto amount = [&](NodeIndex n, const char* name) {
    return fabric.allocatable(n, *fabric.FindResource(name));
  };
  EXPECT_EQ(amount(NodeIndex{0}, "rdma/ib"), 4);
  EXPECT_EQ(amount(NodeIndex{1}, "rdma/ib"), 0);
  EXPECT_EQ(amount(NodeIndex{0}, "cpu"), 7'000);
  EXPECT_EQ(amount(NodeIndex{1}, "cpu"), 96'000);
  EXPECT_EQ(fabric.accelerators(NodeIndex{0}), 8);
  EXPECT_EQ(fabric.FindResource("rdma"), std::nullopt);
  EXPECT_TRUE(fabric.IsAccelerator(*fabric.FindResource("nvidia.com/gpu")));
  EXPECT_FALSE(fabric.IsAccelerator(*fabric.FindResource("pods")));
}

TEST(BuilderTest, NeuronDevicesThatHaveThreeNamesCountOnce) {
  const std::string device = "aws.amazon.com/neuron";
  const Resources all = {{device, 16}, {device + "device", 16}, {device + "core", 128}};
  struct Case {
    const char* name;
    std::vector<Resources> nodes;
    std::vector<std::string> named;  // by the Fabric
    std::vector<std::int64_t> want;
  };
  const std::vector<Case> cases = {
      {"all three names", {all, all}, {}, {16, 16}},
      {"an earlier plug-in", {{{device + "core", 2}, {device + "device", 1}}}, {}, {1}},
      {"cores alone", {{{device + "core", 32}}}, {}, {32}},
      {"the name that all nodes offer", {all, {{device + "core", 128}}}, {}, {128, 128}},
      {"no name that all nodes offer", {{{device, 16}}, {{device + "core", 128}}}, {}, {16, 128}},
      {"the name that the Fabric gives", {all}, {device + "core"}, {128}},
      {"nodes of another vendor", {all, {{"nvidia.com/gpu", 8}}}, {}, {16, 8}},
  };
  for (const Case& c : cases) {
    std::vector<NodeFacts> nodes(c.nodes.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      nodes[n].name = Numbered("n", n);
      nodes[n].allocatable = c.nodes[n];
    }
    FabricSpec spec;
    spec.accelerator_resources = c.named;
    const auto fabric = Fabric::Build(spec, std::move(nodes), {});
    ASSERT_TRUE(fabric) << c.name;
    std::vector<std::int64_t> counts;
    for (const NodeIndex n : Range<NodeIndex>(fabric->node_count())) {
      counts.push_back(fabric->accelerators(n));
    }
    EXPECT_EQ(counts, c.want) << c.name;
  }
}

TEST(BuilderTest, NodesOfATaintClassAgreeOnWhatKeepsPodsAway) {
  FabricShape shape = Leaves({{8, 8, 8, 8, 8}});
  shape.nodes[1].taints = {{"gpu", "", "NoSchedule"}};
  shape.nodes[2].unschedulable = true;
  shape.nodes[3].taints = {{"gpu", "", "NoSchedule"}};
  const Cluster cluster = MakeCluster(shape);
  std::vector<std::uint32_t> classes;
  for (const NodeIndex n : Range<NodeIndex>(5)) classes.push_back(cluster.fabric->taint_class(n));
  EXPECT_EQ(classes, (std::vector<std::uint32_t>{0, 1, 2, 1, 0}));
  const auto first = cluster.fabric->taint_classes();
  EXPECT_EQ(std::vector<NodeIndex>(first.begin(), first.end()), testing::NodesOf({0, 1, 2}));
}

// A tree of up to four levels with uneven domains, some labels missing, some nodes without a
// scale-up domain.
FabricShape RandomShape(std::mt19937& random) {
  const auto below = [&](std::uint32_t bound) { return random() % bound; };
  FabricShape shape;
  shape.levels.clear();
  const std::size_t levels = below(5), nodes = 1 + below(40);
  for (std::size_t l = 0; l < levels; ++l) shape.levels.push_back({Numbered("level", l), 20'000});
  shape.scale_up = below(2) == 0;
  const bool crossing = below(4) == 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    TestNode node;
    node.name = Numbered("n", n, nodes);
    std::string path = "d";
    for (std::size_t l = 0; l < levels; ++l) {
      path.append(".").append(std::to_string(below(3)));
      node.domains.push_back(below(50) == 0 ? "" : path);
    }
    if (crossing) path = "x";
    if (below(5) != 0) node.scale_up = path.append("v").append(std::to_string(below(2)));
    shape.nodes.push_back(std::move(node));
  }
  std::shuffle(shape.nodes.begin(), shape.nodes.end(), random);
  return shape;
}

// Every tier partitions the nodes into runs; children tile their parents.
void ExpectDense(const Fabric& fabric) {
  for (Tier tier{0}; tier <= fabric.node_tier(); ++tier) {
    const TierDomains& domains = fabric.domains(tier);
    ASSERT_EQ(domains.begin.back(), domains.of_node.EndIndex());
    ASSERT_EQ(domains.of_node.size(), fabric.node_count());
    for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
      const DomainIndex d = domains.of_node[n];
      ASSERT_TRUE(domains.begin[d] <= n && n < domains.begin[d + 1]);
    }
    if (tier == fabric.node_tier()) continue;
    const TierDomains& children = fabric.domains(tier + 1);
    ASSERT_EQ(domains.child_begin.size(), domains.begin.size());
    ASSERT_EQ(domains.child_begin.back(), children.EndIndex());
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      ASSERT_EQ(children.begin[domains.child_begin[d]], domains.begin[d]);
    }
  }
}

// Domains of one parent stand in the order of their least node names, nodes in that of theirs.
void ExpectOrdered(const Fabric& fabric) {
  const auto least = [&](Tier tier, DomainIndex d) {
    const TierDomains& domains = fabric.domains(tier);
    std::string name = fabric.node(domains.begin[d]).name;
    for (NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) {
      name = std::min(name, fabric.node(n).name);
    }
    return name;
  };
  for (Tier tier{0}; tier < fabric.node_tier(); ++tier) {
    const TierDomains& domains = fabric.domains(tier);
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      for (DomainIndex c = domains.child_begin[d] + 1; c < domains.child_begin[d + 1]; ++c) {
        ASSERT_LT(least(tier + 1, c - 1), least(tier + 1, c));
      }
    }
  }
}

TEST(BuilderTest, RandomTreesAreDenseOrderedAndIndependentOfTheInput) {
  constexpr int kTrees = 300;
  std::mt19937 random(7);
  for (int t = 0; t < kTrees; ++t) {
    FabricShape shape = RandomShape(random);
    const Cluster first = MakeCluster(shape);
    ExpectDense(*first.fabric);
    ExpectOrdered(*first.fabric);
    ASSERT_EQ(first.fabric->node_count() + first.fabric->incomplete().size(), shape.nodes.size());
    std::shuffle(shape.nodes.begin(), shape.nodes.end(), random);
    const Cluster second = MakeCluster(shape);
    for (const NodeIndex n : Range<NodeIndex>(first.fabric->node_count())) {
      ASSERT_EQ(first.fabric->node(n).name, second.fabric->node(n).name);
      for (Tier tier{0}; tier <= first.fabric->node_tier(); ++tier) {
        ASSERT_EQ(first.fabric->domains(tier).of_node[n], second.fabric->domains(tier).of_node[n]);
      }
    }
    const Plane *a = first.fabric->crossing_scale_up(), *b = second.fabric->crossing_scale_up();
    ASSERT_EQ(a != nullptr, b != nullptr);
    if (a != nullptr) {
      ASSERT_EQ(a->of_node, b->of_node);
    }
  }
}

}  // namespace
}  // namespace weft::fabric
