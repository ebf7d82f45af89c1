#include "operator/render/explain_text.h"

#include <gtest/gtest.h>

#include "tests/support/torus_shape.h"
#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

std::string Text(const Scene& scene, int columns = 100) {
  const Planned planned(scene);
  const auto explanations = report::Explain(planned.cluster, planned.report, {});
  return explanations ? ExplainText(planned.report, *explanations, Plain(columns))
                      : explanations.error().message;
}

TEST(ExplainTextTest, SaysWhatEachAxisCostsAtEachLevel) {
  Scene scene(FourNodes());
  scene.Pod("earlier", "n0").pod.requests = {{testing::kGpu, 4}};
  api::TrainingJob& job = scene.Job("wide", 3);
  job.model = testing::MeasuredData(1'000'000'000);
  job.topology.preferred = "leaf";
  EXPECT_EQ(Text(scene), R"(ns/wide: 3 workers on 1 spine, 2 leaf, 3 node
  The placement is 1 level wider than topology.preferred, leaf.
  Wholly free domains that it uses: 1 leaf, 3 node.
  The search was exhaustive: no placement costs less.
  AXIS  LEVEL  BYTES A STEP  LINK TIME  OF THE COST
  Data  spine          2 GB      80 ms         80 %
  Data  leaf           1 GB      20 ms         20 %
  Cost C = 100 ms of link time a step, the least possible on the free capacity.
)");
}

TEST(ExplainTextTest, SaysWhereInATorusAndHowFarBytesHop) {
  // A line of five nodes, the second in use: three in a row are left.
  testing::FabricShape shape = testing::TorusOf({5}, {true, false, true, true, true}, false);
  Scene scene = Used(shape);
  scene.Job("ring", 3).model = testing::MeasuredData(1'000'000'000);
  EXPECT_EQ(Text(scene), R"(ns/ring: 3 workers on 3 node
  Wholly free domains that it uses: 3 node.
  In the torus its nodes fill a box of 3 places.
  The search was exhaustive: no placement costs less.
  AXIS  LEVEL             BYTES A STEP  LINK TIME  OF THE COST
  Data  torus, 1.33 hops          3 GB    6.67 ms        100 %
  Cost C = 6.67 ms of link time a step, the least possible on the free capacity.
  Runner-up: 3 node, 150 % of the cost; not chosen: costs 50 % more (3.33 ms of link time).
)");
}

TEST(ExplainTextTest, SaysWhyTheRunnerUpWasNotChosen) {
  Scene scene(FourNodes());
  scene.Pod("p", "n0");
  scene.Job("pair", 2).model = testing::MeasuredData(1'000'000'000);
  const Planned planned(scene);
  auto explanations = report::Explain(planned.cluster, planned.report, {});
  ASSERT_TRUE(explanations);
  report::RunnerUpText& second = explanations->front().runner_up.emplace();
  second.spans = "1 spine, 2 leaf, 2 node";
  second.cost_percent = 200;
  second.why_not = "costs 100 % more (40 ms of link time)";
  EXPECT_EQ(ExplainText(planned.report, *explanations, Plain(80)),
            R"(ns/pair: 2 workers on 1 spine, 1 leaf, 2 node
  Wholly free domains that it uses: 1 leaf, 2 node.
  The search was exhaustive: no placement costs less.
  AXIS  LEVEL  BYTES A STEP  LINK TIME  OF THE COST
  Data  leaf           2 GB      40 ms        100 %
  Cost C = 40 ms of link time a step, the least possible on the free capacity.
  Runner-up: 1 spine, 2 leaf, 2 node, 200 % of the cost; not chosen: costs 100 %
  more (40 ms of link time).
)");
}

TEST(ExplainTextTest, SaysHowFarTheCostIsFromTheLeastPossible) {
  Scene scene(FourNodes());
  scene.Job("pair", 2).model = testing::MeasuredData(1'000'000'000);
  const Planned planned(scene);
  auto explanations = report::Explain(planned.cluster, planned.report, {});
  ASSERT_TRUE(explanations);
  explanations->front().over_lower_bound_percent = 104;
  EXPECT_NE(ExplainText(planned.report, *explanations, Plain(100))
                .find("a step, at most 104 % of the least possible on the free capacity.\n"),
            std::string::npos);
}

TEST(ExplainTextTest, BytesOfAJobWithoutAModelAreNotShown) {
  Scene scene(FourNodes());
  scene.Job("ring", 4).topology.required = "spine";
  EXPECT_EQ(Text(scene, 60), R"(ns/ring: 4 workers on 1 spine, 2 leaf, 4 node
  topology.required holds: all workers are in one spine.
  Wholly free domains that it uses: 1 spine, 2 leaf, 4 node.
  The search was exhaustive: no placement costs less.
  AXIS  LEVEL  BYTES A STEP  LINK TIME  OF THE COST
  Data  spine             -    0.08 ns         67 %
  Data  leaf              -    0.04 ns         33 %
  Cost C = 0.12 ns of link time a step, the least possible
  on the free capacity.
)");
}

TEST(ExplainTextTest, AJobOnOneNodeCostsNothing) {
  Scene scene(FourNodes());
  scene.Job("small", 1);
  EXPECT_EQ(Text(scene), R"(ns/small: 1 worker on 1 spine, 1 leaf, 1 node
  Wholly free domains that it uses: 1 spine, 1 leaf, 1 node.
  The search was exhaustive: no placement costs less.
  Cost C = 0: nothing is sent between nodes.
  Runner-up: 1 spine, 1 leaf, 1 node; not chosen: is equal in every level, and its node names sort
  later.
)");
}

TEST(ExplainTextTest, ARefusalIsToldDomainByDomain) {
  Scene scene(FourNodes());
  scene.Pod("p", "n0");
  scene.Pod("q", "n2");
  scene.inputs.nodes.Edit(3).facts.unschedulable = true;
  scene.Job("one", 1).expected_duration_seconds = 90'000;
  scene.Job("late", 2).topology.required = "leaf";
  EXPECT_EQ(Text(scene), R"(ns/one: 1 worker on 1 spine, 1 leaf, 1 node
  Wholly free domains that it uses: 1 node.
  The search was exhaustive: no placement costs less.
  Cost C = 0: nothing is sent between nodes.

ns/late: 2 workers, not placed (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing. No node has room: 3
  of 4 lack free nvidia.com/gpu; 1 of 4 is cordoned (spec.unschedulable). Its start time is unknown:
  too few of the running jobs state expectedDurationSeconds.
  By spine, most room first:
    s0: room for 0 workers on 4 nodes; 3 of 4 lack free nvidia.com/gpu; 1 of 4 is cordoned
      (spec.unschedulable).
)");
}

TEST(ExplainTextTest, ARuleThatIsTooTightNamesWhatToRelax) {
  Scene scene(FourNodes());
  scene.Pod("p", "n0");
  scene.Pod("q", "n2");
  scene.Job("tight", 2).topology.required = "leaf";
  EXPECT_EQ(Text(scene, 80), R"(ns/tight: 2 workers, not placed (RequiredLevel)
  No single leaf has room for all 2 workers, as topology.required demands. The
  leaf l0 comes closest with room for 1 of 2 workers: 8 nvidia.com/gpu are
  missing there. 2 of 4 nodes lack free nvidia.com/gpu. To start now, relax one
  of: topology.required: leaf -> spine. Its start time is unknown: too few of
  the running jobs state expectedDurationSeconds.
  By leaf, most room first:
    l0: room for 1 of 2 workers on 2 nodes; 1 of 2 lacks free nvidia.com/gpu.
    l1: room for 1 of 2 workers on 2 nodes; 1 of 2 lacks free nvidia.com/gpu.
  It could start now with topology.required: leaf -> spine, at a cost of 0.08 ns
  of link time a step.
)");
}

TEST(ExplainTextTest, ManyDomainsAreCounted) {
  Scene scene(testing::Leaves(std::vector<testing::FreePerNode>(15, {8})));
  scene.Job("tight", 2).topology.required = "leaf";
  EXPECT_EQ(Text(scene), R"(ns/tight: 2 workers, not placed (RequiredLevel)
  No single leaf has room for all 2 workers, as topology.required demands. The leaf l0 comes closest
  with room for 1 of 2 workers: 8 nvidia.com/gpu are missing there. To start now, relax one of:
  topology.required: leaf -> spine. Unchanged, it never fits this fabric, not even with nothing else
  running.
  By leaf, most room first:
    l0: room for 1 of 2 workers on 1 node.
    l1: room for 1 of 2 workers on 1 node.
    l2: room for 1 of 2 workers on 1 node.
    l3: room for 1 of 2 workers on 1 node.
    l4: room for 1 of 2 workers on 1 node.
    l5: room for 1 of 2 workers on 1 node.
    l6: room for 1 of 2 workers on 1 node.
    l7: room for 1 of 2 workers on 1 node.
    l8: room for 1 of 2 workers on 1 node.
    l9: room for 1 of 2 workers on 1 node.
    l10: room for 1 of 2 workers on 1 node.
    l11: room for 1 of 2 workers on 1 node.
    and 3 domains with no more room
  It could start now with topology.required: leaf -> spine, at a cost of 0.08 ns of link time a
  step.
)");
}

}  // namespace
}  // namespace weft::render
