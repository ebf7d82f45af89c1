// Which one rule, relaxed, lets a job start now.
#include <gtest/gtest.h>

#include <functional>

#include "operator/placement/place.h"
#include "operator/placement/relax.h"
#include "tests/support/nodes_of.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using objective::Request;
using testing::PlacementScene;
using testing::WorkerSetsOf;

constexpr fabric::Tier kSpine{1}, kLeaf{2}, kNode{3};

// Two spines; s0 has leaves l0 (n0, n1) and l1 (n2, n3), s1 has l2 (n4, n5). 8 GPUs a node.
testing::FabricShape SixNodes() {
  return testing::Spines({{{{8, 8}}, {{8, 8}}}, {{{8, 8}}}}, false);
}

struct RelaxCase {
  const char* name;
  std::uint32_t workers;
  std::function<void(testing::FabricShape&)> shape;
  std::function<void(Request&)> request;
  const char* want;  // "constraint: change", one line each
};

std::string Relaxations(const RelaxCase& one) {
  testing::FabricShape shape = SixNodes();
  if (one.shape) one.shape(shape);
  PlacementScene scene(shape, one.workers, 8);
  one.request(scene.request);
  EXPECT_FALSE(Solve(scene.cluster.claims, scene.request, scene.graph)) << one.name;
  std::string text;
  for (const Relaxation& found :
       FindRelaxations(scene.cluster.claims, scene.request, scene.graph)) {
    text += (text.empty() ? "" : "\n") + found.constraint + ": " + found.change;
    EXPECT_EQ(found.nodes.size(), one.workers) << one.name;
  }
  return text;
}

TEST(FindRelaxations, NamesTheNarrowestChangeOfEachRuleThatHelps) {
  const auto taint = [](testing::FabricShape& s) {
    for (std::size_t n = 1; n < 6; ++n) s.nodes[n].taints = {{"sick", "", "NoSchedule"}};
  };
  const RelaxCase cases[] = {
      {"one level wider",
       3,
       {},
       [](Request& r) { r.required = kLeaf; },
       "topology.required: leaf -> spine"},
      {"no level at all",
       5,
       {},
       [](Request& r) { r.required = kLeaf; },
       "topology.required: removed"},
      {"a group's level",
       6,
       {},
       [](Request& r) {
         r.groups = {{WorkerSetsOf({{0, 1, 2, 3, 4}}), kLeaf, std::nullopt}};
       },
       "topology.groups[0].required: removed"},
      {"the second group's level",
       4,
       {},
       [](Request& r) {
         r.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), kLeaf, std::nullopt},
                     {WorkerSetsOf({{0, 1}}), kNode, std::nullopt}};
       },
       "topology.groups[1].required: node -> leaf"},
      {"excluded nodes",
       6,
       {},
       [](Request& r) { r.excluded = testing::NodesOf({2}); },
       "excluded nodes: used again"},
      {"a node selector",
       1,
       {},
       [](Request& r) {
         r.pod.node_selector = {{"pool", "a"}};
       },
       "nodeSelector: removed"},
      {"a node affinity, whose terms are none",
       1,
       {},
       [](Request& r) { r.pod.required_affinity.emplace(); },
       "nodeAffinity: removed"},
      {"a spread by a label that no node has",
       1,
       {},
       [](Request& r) {
         r.pod.terms = fabric::PodTerms{.spread = {{"zone", 1, 1, {}}}};
       },
       "topologySpreadConstraints: removed"},
      {"taints", 2, taint, [](Request&) {}, "tolerations: all taints tolerated"},
      {"either of two", 2, taint,
       [](Request& r) {
         r.pod.tolerations = {{.key = "sick", .op = "Exists", .value = "", .effect = ""}};
         r.required = kLeaf;
         r.excluded = testing::NodesOf({0, 2, 4});
       },
       "topology.required: leaf -> spine\nexcluded nodes: used again"},
      {"nothing alone", 7, {}, [](Request& r) { r.required = kLeaf; }, ""},
  };
  for (const RelaxCase& one : cases) EXPECT_EQ(Relaxations(one), one.want) << one.name;
}

// Who waits for a node under disk pressure is not told to tolerate that.
TEST(FindRelaxations, ATaintThatPassesByItselfIsNoReasonToTolerateTaints) {
  const auto told = [](std::vector<fabric::Taint> first, std::vector<fabric::Taint> second) {
    return Relaxations({"taints", 6,
                        [&](testing::FabricShape& shape) {
                          shape.nodes[0].taints = first;
                          shape.nodes[1].taints = second;
                        },
                        [](Request&) {}, ""});
  };
  const std::vector<fabric::Taint> pressure = {
      {"node.kubernetes.io/disk-pressure", "", "NoSchedule"}};
  const std::vector<fabric::Taint> sick = {{"sick", "", "NoSchedule"}};
  EXPECT_EQ(told(pressure, {}), "");
  EXPECT_EQ(told(pressure, sick), "");
  EXPECT_EQ(told(sick, {}), "tolerations: all taints tolerated");
  EXPECT_EQ(Relaxations({"a taint of each sort", 5,
                         [&](testing::FabricShape& shape) {
                           shape.nodes[0].taints = pressure;
                           shape.nodes[1].taints = sick;
                         },
                         [](Request&) {}, ""}),
            "tolerations: all taints tolerated but those that pass by themselves");
}

TEST(FindRelaxations, TellsWhatTheRelaxedPlacementCosts) {
  PlacementScene scene(SixNodes(), 3, 8);
  scene.request.required = kLeaf;
  const auto found = FindRelaxations(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_EQ(found.size(), 1u);
  Request spine = scene.request;
  spine.required = kSpine;
  const auto plan = Solve(scene.cluster.claims, spine, scene.graph);
  ASSERT_TRUE(plan);
  EXPECT_EQ(found[0].cost, plan->cost);
  EXPECT_EQ(found[0].nodes, plan->nodes);
}

// Without the selector the job would run, but on another product.
TEST(FindRelaxations, SaysOnWhichOtherProductTheJobWouldRun) {
  testing::FabricShape shape = SixNodes();
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels["nvidia.com/gpu.product"] = n < 2 ? "L40S" : "H100";
  }
  PlacementScene scene(shape, 2, 8);
  const auto text = [&] {
    std::string all;
    for (const Relaxation& one :
         FindRelaxations(scene.cluster.claims, scene.request, scene.graph)) {
      all += one.constraint + ": " + one.change + "\n";
    }
    return all;
  };
  scene.request.pod.node_selector = {{"nvidia.com/gpu.product", "L40S"}};
  scene.request.excluded = testing::NodesOf({0});
  EXPECT_EQ(text(), "excluded nodes: used again\nnodeSelector: removed, to run on H100\n");
  scene.request.pod.node_selector = {{"nvidia.com/gpu.product", "B200"}};
  EXPECT_EQ(text(), "nodeSelector: removed, to run on H100\n");
  scene.request.excluded.clear();
  scene.request.pod.node_selector = {{"rack", "r1"}};
  EXPECT_EQ(text().substr(0, text().find(',')), "nodeSelector: removed");
}

TEST(FindRelaxations, TriesTheChoicesOfPoolsOfAConstraintUpToTheFirstThatHelps) {
  PlacementScene scene(SixNodes(), 2, 8);
  scene.request.pool_choices.emplace();
  const std::vector<objective::PoolChoice> all = {{"all", {fabric::PoolIndex{0}}, 0}};
  scene.request.pool_relaxations = {{"models", "none", {}},
                                    {"models", "removed", all},
                                    {"models", "[Any]", all},
                                    {"types", "removed", all}};
  const auto found = FindRelaxations(scene.cluster.claims, scene.request, scene.graph);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].constraint + ": " + found[0].change, "models: removed");
  EXPECT_EQ(found[1].constraint + ": " + found[1].change, "types: removed");
}

}  // namespace
}  // namespace weft::placement
