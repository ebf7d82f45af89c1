// Whether healthy workers move after a failure. Figures by brute force: a ring of eight workers in
// one full leaf loses workers 2 and 5; the next leaf has three free nodes.
#include "operator/placement/move_more.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fabric_builder.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using weft::testing::FabricShape;
using weft::testing::PlacementScene;
using weft::testing::TestNode;

FabricShape TwoLeaves(int free) {
  FabricShape shape;
  shape.levels = {{"spine", 40'000}, {"leaf", 20'000}};
  shape.scale_up = false;
  for (int i = 0; i < 12; ++i) {
    TestNode node;
    node.name = i < 8 ? "a" + std::to_string(i + 1) : "b" + std::to_string(i - 7);
    node.domains = {"s1", i < 8 ? "l1" : "l2"};
    node.accelerators = 1;
    node.used = i >= 8 + free ? 1 : 0;
    shape.nodes.push_back(std::move(node));
  }
  return shape;
}

struct Ring : PlacementScene {
  explicit Ring(std::vector<std::uint32_t> failed, int free)
      : PlacementScene(TwoLeaves(free), 8, 1) {
    loss.nodes = At({"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"});
    for (const std::uint32_t w : failed) {
      loss.failed.emplace_back(w);
      request.excluded.push_back(loss.nodes[WorkerIndex(w)]);
    }
    request.previous_nodes = loss.nodes;
  }

  // A step with the others fixed takes 0.05 % longer than the best; a healthy worker that moves
  // costs a minute.
  MoveChoice Choose(double until_next_failure) const {
    const Replacer replacer(cluster.claims, request, graph, loss);
    const ReplaceAnswer fixed = replacer.Run();
    const Int128 cost = std::get<Replaced>(fixed).placement.cost;
    const MoveTerms terms = {
        .step = [cost](const auto& placement) { return placement.cost < cost ? 1 : 1.0005; },
        .restart = [](std::uint32_t moved) { return Seconds(300 + 60 * moved); },
        .until_next_failure = Seconds(until_next_failure),
        .remaining = Seconds(1e9)};
    return MoveMore(replacer, std::get<Replaced>(fixed), terms);
  }

  Loss loss;
};

TEST(MoveMore, OneHealthyWorkerMovesIfTheTimeUntilTheNextFailurePaysForIt) {
  const Ring ring({2, 5}, 3);
  const MoveChoice choice = ring.Choose(712'401);
  ASSERT_TRUE(choice.chosen);
  const MoveOption& one = choice.options[*choice.chosen];
  EXPECT_EQ(ring.Show(one.placement.nodes.Items()), "a1 a2 a5 a4 b1 b2 a7 a8");
  EXPECT_EQ(static_cast<std::int64_t>(one.placement.cost), 200'000);
  EXPECT_EQ(one.more, 1U);
  EXPECT_NEAR(one.gain.count(), 356.2, 0.1);
  EXPECT_EQ(one.loss.count(), 60);
  EXPECT_EQ(choice.options.size(), 1U);  // 200,000 is the least there is
}

TEST(MoveMore, HealthyWorkersStayIfTheNextFailureComesTooSoon) {
  const MoveChoice choice = Ring({2, 5}, 3).Choose(11'131);
  ASSERT_EQ(choice.options.size(), 1U);
  EXPECT_NEAR(choice.options[0].gain.count(), 5.6, 0.1);
  EXPECT_FALSE(choice.chosen);
}

TEST(MoveMore, NobodyElseMovesIfThatSavesNothing) {
  EXPECT_TRUE(Ring({3}, 2).Choose(1e9).options.empty());
}

}  // namespace
}  // namespace weft::placement
