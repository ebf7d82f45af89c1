#include "operator/fabric/claims.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/support/fabric_builder.h"

namespace weft::fabric {
namespace {

using testing::Cluster;
using testing::FabricShape;
using testing::MakeCluster;
using testing::Spines;

std::vector<std::int64_t> FreeAccelerators(const Cluster& cluster) {
  std::vector<std::int64_t> free;
  for (const NodeIndex n : Range<NodeIndex>(cluster.fabric->node_count())) {
    free.push_back(cluster.claims.free_accelerators(n));
  }
  return free;
}

TEST(ClaimsTest, CountsGpusNotFreeInTheShapeAsUsed) {
  const Cluster cluster = MakeCluster(Spines({{{{8, 0}, {5, 8}}}, {{{-1}}}}));
  EXPECT_EQ(FreeAccelerators(cluster), (std::vector<std::int64_t>{8, 0, 5, 8, -1}));
  EXPECT_TRUE(cluster.claims.wholly_free(NodeIndex{0}));
  EXPECT_FALSE(cluster.claims.wholly_free(NodeIndex{2}));
  EXPECT_EQ(cluster.claims.used_accelerators(NodeIndex{2}), 3);
}

TEST(ClaimsTest, AnAddBooksEveryKnownResourceAndOnePod) {
  Cluster cluster = MakeCluster(Spines({{{{8}}}}));
  cluster.claims.Add(NodeIndex{0},
                     {{"nvidia.com/gpu", 2}, {"cpu", 6'000}, {"example.com/unknown", 9}});
  const auto free = [&](const char* name) {
    return cluster.claims.free(NodeIndex{0}, *cluster.fabric->FindResource(name));
  };
  EXPECT_EQ(free("nvidia.com/gpu"), 6);
  EXPECT_EQ(free("cpu"), 90'000);
  EXPECT_EQ(free("pods"), 109);
  EXPECT_EQ(cluster.claims.free_row(NodeIndex{0})[cluster.fabric->FindResource("pods")->Raw()],
            109);
  cluster.claims.Add(NodeIndex{0}, {{"pods", 9}});
  EXPECT_EQ(free("pods"), 100);
}

TEST(ClaimsTest, ARemoveUndoesAnAdd) {
  Cluster cluster = MakeCluster(Spines({{{{8, 4}}}}));
  const Claims before = cluster.claims;
  const Resources amounts = {{"nvidia.com/gpu", 4}, {"memory", 1'000}};
  cluster.claims.Add(NodeIndex{1}, amounts, "team/job");
  EXPECT_EQ(FreeAccelerators(cluster), (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(cluster.claims.compute_domain(NodeIndex{1}), "team/job");
  cluster.claims.Remove(NodeIndex{1}, amounts, "team/job");
  for (const NodeIndex n : Range<NodeIndex>(2)) {
    for (ResourceIndex r{0}; r < cluster.fabric->resources().EndIndex(); ++r) {
      EXPECT_EQ(cluster.claims.free(n, r), before.free(n, r));
    }
    EXPECT_EQ(cluster.claims.used_accelerators(n), before.used_accelerators(n));
    EXPECT_EQ(cluster.claims.compute_domain(n), "");
  }
}

TEST(ClaimsTest, AComputeDomainIsHeldUntilItsLastPodIsGone) {
  Cluster cluster = MakeCluster(Spines({{{{8}}}}));
  cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/gpu", 2}}, "team/a");
  cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/gpu", 2}}, "team/a");
  cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/gpu", 2}});
  cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/gpu", 2}},
                     "team/b");  // a conflict: the first stays
  cluster.claims.Remove(NodeIndex{0}, {{"nvidia.com/gpu", 2}}, "team/b");
  cluster.claims.Remove(NodeIndex{0}, {{"nvidia.com/gpu", 2}}, "team/a");
  EXPECT_EQ(cluster.claims.compute_domain(NodeIndex{0}), "team/a");
  cluster.claims.Remove(NodeIndex{0}, {{"nvidia.com/gpu", 2}}, "team/a");
  EXPECT_EQ(cluster.claims.compute_domain(NodeIndex{0}), "");
  EXPECT_EQ(cluster.claims.used_accelerators(NodeIndex{0}), 2);
}

TEST(ClaimsTest, AbsurdAmountsSaturate) {
  Cluster cluster = MakeCluster(Spines({{{{8}}}}));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 3; ++i) cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/gpu", kMost}});
  EXPECT_EQ(cluster.claims.free_accelerators(NodeIndex{0}),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(cluster.claims.used_accelerators(NodeIndex{0}), kMost);
}

TEST(ClaimsTest, EveryAcceleratorResourceCounts) {
  FabricShape shape = Spines({{{{8}}}});
  shape.nodes[0].allocatable = {{"nvidia.com/mig-1g.10gb", 7}};
  Cluster cluster = MakeCluster(shape);
  cluster.claims.Add(NodeIndex{0}, {{"nvidia.com/mig-1g.10gb", 3}});
  EXPECT_EQ(cluster.fabric->accelerators(NodeIndex{0}), 15);
  EXPECT_EQ(cluster.claims.free_accelerators(NodeIndex{0}), 12);
  EXPECT_FALSE(cluster.claims.wholly_free(NodeIndex{0}));
}

constexpr const char* kNeuron = "aws.amazon.com/neuron";
constexpr const char* kCore = "aws.amazon.com/neuroncore";

// n0 offers the same devices by both names, n1 only as cores.
Cluster NeuronNodes() {
  FabricShape shape = Spines({{{{8, 8}}}});
  shape.accelerator = kCore;
  shape.nodes[0].allocatable = {{kNeuron, 16}, {kCore, 32}};
  shape.nodes[1].allocatable = {{kCore, 32}};
  return MakeCluster(shape);
}

std::int64_t FreeOf(const Cluster& cluster, std::uint32_t node, const char* name) {
  return cluster.claims.free(NodeIndex{node}, *cluster.fabric->FindResource(name));
}

TEST(ClaimsTest, NeuronDevicesAreTakenByEveryName) {
  Cluster cluster = NeuronNodes();
  cluster.claims.Add(NodeIndex{0}, {{kNeuron, 8}});
  EXPECT_EQ(FreeOf(cluster, 0, kNeuron), 8);
  EXPECT_EQ(FreeOf(cluster, 0, kCore), 16);
  cluster.claims.Add(NodeIndex{0}, {{kCore, 3}});  // of two devices
  EXPECT_EQ(FreeOf(cluster, 0, kNeuron), 6);
  EXPECT_EQ(FreeOf(cluster, 0, kCore), 13);
  EXPECT_EQ(cluster.claims.used_accelerators(NodeIndex{0}), 19);  // in cores, as n1 has only these
  cluster.claims.Remove(NodeIndex{0}, {{kNeuron, 8}});
  cluster.claims.Remove(NodeIndex{0}, {{kCore, 3}});
  EXPECT_EQ(FreeOf(cluster, 0, kNeuron), 16);
  EXPECT_EQ(FreeOf(cluster, 0, kCore), 32);
  EXPECT_TRUE(cluster.claims.wholly_free(NodeIndex{0}));
}

TEST(ClaimsTest, NeuronDevicesAskedForByTwoNamesAreNotTakenTwice) {
  Cluster cluster = NeuronNodes();
  cluster.claims.Add(NodeIndex{0}, {{kNeuron, 16}, {kCore, 32}});
  EXPECT_EQ(FreeOf(cluster, 0, kNeuron), 0);
  EXPECT_EQ(FreeOf(cluster, 0, kCore), 0);
}

TEST(ClaimsTest, ANeuronNameThatTheNodeDoesNotOfferIsNotTakenOfIt) {
  Cluster cluster = NeuronNodes();
  cluster.claims.Add(NodeIndex{1}, {{kCore, 32}});
  EXPECT_EQ(FreeOf(cluster, 1, kNeuron), 0);
  EXPECT_EQ(FreeOf(cluster, 1, kCore), 0);
}

}  // namespace
}  // namespace weft::fabric
