// A gang that may be made of one of several choices of pools.
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/placement/place.h"
#include "operator/placement/refuse.h"
#include "tests/support/nodes_of.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using testing::PlacementScene;

constexpr fabric::Tier kLeaf{2};

// One spine; leaves l0 with n0 and n1 of product A and n2 of B, l1 with n3 of A, n4 of B and n5, n6
// of C. 8 GPUs a node, one worker each.
struct Scene : PlacementScene {
  explicit Scene(std::uint32_t workers) : PlacementScene(Shape(), workers, 8) {}

  static testing::FabricShape Shape() {
    testing::FabricShape shape = testing::Leaves({{8, 8, 8}, {8, 8, 8, 8}});
    const char* const products[] = {"A", "A", "B", "A", "B", "C", "C"};
    for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
      shape.nodes[n].labels = {{"nvidia.com/gpu.product", products[n]}};
    }
    return shape;
  }

  // Choices by rank: {"A", "BC"} are the pool A, then pools B and C mixed; "=" begins one of the
  // rank of the choice before it.
  void Choose(const std::vector<std::string>& choices) {
    request.pool_choices.emplace();
    std::uint32_t rank = 0;
    for (const std::string& choice : choices) {
      objective::PoolChoice one{choice, {}, choice.front() == '=' ? rank : ++rank};
      for (const char product : choice) {
        if (product != '=') one.pools.push_back(PoolOf(product));
      }
      std::sort(one.pools.begin(), one.pools.end());
      request.pool_choices->push_back(std::move(one));
    }
  }
  fabric::PoolIndex PoolOf(char product) const {
    const char* const first[] = {"n0", "n2", "n5"};
    return cluster.fabric->pool(cluster.node(first[product - 'A']));
  }

  // "A: n0 n1", or what is refused.
  std::string Answer() const {
    const Placement placement = Place(cluster.claims, request, graph);
    if (const auto* plan = std::get_if<Plan>(&placement)) {
      return (*request.pool_choices)[plan->choice].name + ": " + Show(plan->nodes);
    }
    const auto& no = std::get<Unplaceable>(placement);
    std::string text = std::string(ReasonName(no.reason)) + (no.ever ? "" : " for ever") + ", " +
                       std::to_string(no.found_workers) + " of " +
                       std::to_string(no.wanted_workers);
    for (std::size_t c = 0; c < no.choices.size(); ++c) {
      text += std::string(c == 0 ? "; " : ", ") + (no.choice == c ? "*" : "") + no.choices[c].name +
              " " + std::to_string(no.choices[c].workers);
    }
    return text;
  }
};

std::string Of(std::uint32_t workers, const std::vector<std::string>& choices,
               std::optional<fabric::Tier> required = std::nullopt) {
  Scene scene(workers);
  scene.Choose(choices);
  scene.request.required = required;
  return scene.Answer();
}

TEST(PoolChoices, TheFirstRankThatHoldsTheJobWins) {
  EXPECT_EQ(Of(2, {"B", "A"}), "B: n2 n4");
  EXPECT_EQ(Of(3, {"B", "A"}), "A: n0 n1 n3");
  EXPECT_EQ(Of(4, {"A", "BC"}), "BC: n2 n4 n5 n6");
  EXPECT_EQ(Of(2, {"C"}), "C: n5 n6");
}

TEST(PoolChoices, OfOneRankTheCheapestThenTheFirstWins) {
  EXPECT_EQ(Of(2, {"B", "=C"}), "=C: n5 n6");
  EXPECT_EQ(Of(2, {"=C", "=B"}), "=C: n5 n6");
  EXPECT_EQ(Of(1, {"B", "=B"}), "B: n2");
}

TEST(PoolChoices, SayWhatEachHasRoomForAndWhichWereTried) {
  Scene scene(2);
  scene.Choose({"B", "=C", "A"});
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice, 1u);
  EXPECT_EQ(plan->pools, (std::vector{scene.PoolOf('C')}));
  ASSERT_EQ(plan->choices.size(), 3u);
  EXPECT_EQ(plan->choices[0].workers, 2u);
  EXPECT_EQ(plan->choices[1].workers, 2u);
  EXPECT_EQ(plan->choices[2].workers, 3u);
  EXPECT_TRUE(plan->choices[0].solved);
  EXPECT_TRUE(plan->choices[1].solved);
  EXPECT_FALSE(plan->choices[2].solved);
}

// Two of B cost twice as much as two of C, and one of B as much as one of C.
TEST(PoolChoices, ARestartStaysOnItsProductWhereThatCostsNoMore) {
  Scene pair(2);
  pair.Choose({"=C", "=B"});
  pair.request.previous_nodes = pair.At({"n2", "n4"});
  EXPECT_EQ(pair.Answer(), "=C: n5 n6");
  Scene one(1);
  one.Choose({"=C", "=B"});
  one.request.previous_nodes = one.At({"n4"});
  EXPECT_EQ(one.Answer(), "=B: n4");
  one.request.previous_nodes = one.At({"n6"});
  EXPECT_EQ(one.Answer(), "=C: n6");
}

TEST(PoolChoices, ARefusalNamesTheFirstThatHasRoomElseAll) {
  EXPECT_EQ(Of(3, {"B", "A"}, kLeaf), "RequiredLevel for ever, 2 of 3; B 2, *A 3");
  EXPECT_EQ(Of(4, {"B", "A"}), "InsufficientCapacity for ever, 3 of 4; B 2, A 3");
  EXPECT_EQ(Of(4, {"B"}), "InsufficientCapacity for ever, 2 of 4");
  EXPECT_EQ(Of(1, {}), "NoMatchingProduct for ever, 0 of 1");
  Scene excluded(1);
  excluded.Choose({"A", "B"});
  excluded.request.excluded = testing::NodesOf({0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(excluded.Answer(), "NoEligibleNode for ever, 0 of 1; A 0, B 0");
}

}  // namespace
}  // namespace weft::placement
