#include "operator/objective/levels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/objective/instance.h"
#include "tests/support/campaign.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"
#include "tests/support/random_instance.h"

namespace weft::objective {
namespace {

using fabric::NodeIndex;
using testing::Cluster;

// Two workers of 4 GPUs; spine s0 of leaves l0 (n0, n1) and l1 (n2, n3), spine s1 of leaf l2 (n4,
// n5, n6); n1 and n6 are half in use.
struct Scene {
  Scene() {
    testing::FabricShape shape = testing::Spines({{{{8, 4}}, {{8, 8}}}, {{{8, 8, 4}}}}, false);
    cluster = testing::MakeCluster(shape);
    request.workers = 2;
    request.pod.requests = {{"nvidia.com/gpu", 4}};
    request.preferred = cluster.fabric->FindTier("leaf");
  }

  Candidate At(const std::vector<std::string>& names) const {
    ByWorker<NodeIndex> nodes;
    for (const std::string& name : names) nodes.push_back(cluster.node(name));
    return Evaluate(Instance(cluster.claims, request, graph), std::move(nodes));
  }

  Cluster cluster = testing::MakeCluster(testing::Leaves({{8}}));
  Request request;
  traffic::WorkerGraph graph{*traffic::ComputeTraffic(std::nullopt, {}, 2, 4)};
};

struct WorseCase {
  const char* name;
  std::vector<std::string> chosen, other;
  const char* why;
};

class WhyWorseTest : public ::testing::TestWithParam<WorseCase> {};

TEST_P(WhyWorseTest, NamesTheFirstLevelThatDecides) {
  const Scene scene;
  const Instance instance(scene.cluster.claims, scene.request, scene.graph);
  const Candidate chosen = scene.At(GetParam().chosen), other = scene.At(GetParam().other);
  EXPECT_EQ(WhyWorse(instance, other, chosen), GetParam().why);
  const std::vector<Candidate> both = {other, chosen};
  EXPECT_EQ(Best(instance, both, 0), 1u);
}

const WorseCase kWorseCases[] = {
    {"TheLevelsWider",
     {"n2", "n3"},
     {"n0", "n2"},
     "is 1 level wider than the chosen one (topology.preferred)"},
    {"TheCost", {"n2", "n2"}, {"n2", "n3"}, "costs something where the chosen one costs nothing"},
    {"TheFreeDomains",
     {"n1", "n0"},
     {"n2", "n3"},
     "costs no more, but breaks up 1 more wholly free domain of level leaf"},
    {"TheSlotsLeft",
     {"n4", "n4"},
     {"n0", "n0"},
     "costs no more, but uses emptier domains of level spine: they keep room for 2 more workers"},
    {"TheNames",
     {"n2", "n2"},
     {"n3", "n3"},
     "is equal in every level, and its node names sort later"},
};
INSTANTIATE_TEST_SUITE_P(Levels, WhyWorseTest, ::testing::ValuesIn(kWorseCases),
                         [](const auto& one) { return std::string(one.param.name); });

// What the exact search cuts by: a partial placement is never worth less than what becomes of it.
TEST(Levels, OfAPartialPlacementTheyAreBounds) {
  for (std::uint64_t seed = 1; seed <= weft::testing::Instances(200); ++seed) {
    testing::RandomInstance random = testing::MakeRandomInstance(seed, {});
    if (seed % 2 == 0) random.request.previous_nodes = testing::WorkersOn({0});
    const Instance instance(*random.claims, random.request, *random.graph);
    const placement::Placement placement =
        placement::Place(*random.claims, random.request, *random.graph);
    const placement::Plan* plan = std::get_if<placement::Plan>(&placement);
    if (plan == nullptr) continue;
    const Preferences preferences = Prefer(instance, plan->nodes);
    const TieBreakers ties = BreakTies(instance, plan->nodes);
    ByWorker<NodeIndex> part = plan->nodes;
    for (WorkerIndex w = part.EndIndex(); w-- > WorkerIndex{0};) {
      part[w] = kUnplaced;
      const Preferences least = Prefer(instance, part);
      for (std::size_t l = 0; l < kLevelsBeforeCost; ++l) {
        EXPECT_LE(least[l], preferences[l]) << random.what << ", level " << l;
      }
      const TieBreakers least_ties = BreakTies(instance, part);
      for (std::size_t l = 0; l < kLevelsAfterCost; ++l) {
        for (std::size_t i = 0; i < ties[l].size(); ++i) {
          EXPECT_LE(least_ties[l][i], ties[l][i]) << random.what << ", level " << l;
        }
      }
    }
  }
}

TEST(HomeTier, IsAsNarrowAsRequiredAndThePreferencesThatAreReached) {
  constexpr fabric::Tier kSpine{1}, kLeaf{2}, kNode{3};
  Request request;
  EXPECT_EQ(HomeTier(request, {0, 0}), fabric::kOutside);
  request.required = kSpine;
  EXPECT_EQ(HomeTier(request, {0, 0}), kSpine);
  request.preferred = kNode;
  EXPECT_EQ(HomeTier(request, {0, 0}), kNode);
  EXPECT_EQ(HomeTier(request, {1, 0}), kLeaf);
  EXPECT_EQ(HomeTier(request, {3, 0}), kSpine);
}

}  // namespace
}  // namespace weft::objective
