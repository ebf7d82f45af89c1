#include "operator/render/plan_text.h"
#include "operator/cluster/note.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

std::string Text(const Planned& planned, int columns = 100) {
  return PlanText(planned.cluster, planned.report, Plain(columns));
}

// A job with a model over two leaves, one without a model, and one that does not fit.
Scene Queue() {
  Scene scene(FourNodes());
  scene.Pod("earlier", "n0").pod.requests = {{testing::kGpu, 4}};
  scene.Job("wide", 3).model = testing::MeasuredData(1'000'000'000);
  scene.inputs.jobs.Edit(scene.inputs.jobs.size() - 1).expected_duration_seconds = 7200;
  scene.Job("half", 1, 4);
  scene.Job("late", 2);
  return scene;
}

TEST(PlanTextTest, ShowsJobsNodesRefusalsAndNotes) {
  EXPECT_EQ(Text(Planned(Queue())),
            R"(JOB      WORKERS  SPINE  LEAF  NODE  CROSS-NODE  OF BEST  COST/BOUND   COMM
ns/wide        3      1     2     3        3 GB    100 %       100 %  40 ms
ns/half        1      1     1     1           -        -       100 %      -
ns/late        2      -     -     -  not placed        -           -      -
- no model given: placed for one ring over all ranks, bytes unknown.

Nodes
ns/wide: n[1-3] (busiest uplink: l0, 2.5 ms)
ns/half: n0

Not placed
ns/late (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. It would fit within 2 h, when ns/wide ends.

3 jobs: 2 placed, 1 not placed. They take 28 GPUs; 0 of 32 stay free.
)");
}

TEST(PlanTextTest, ANarrowTerminalHasTheSameTable) {
  EXPECT_EQ(Text(Planned(Queue()), 80),
            R"(JOB      WORKERS  SPINE  LEAF  NODE  CROSS-NODE  OF BEST  COST/BOUND   COMM
ns/wide        3      1     2     3        3 GB    100 %       100 %  40 ms
ns/half        1      1     1     1           -        -       100 %      -
ns/late        2      -     -     -  not placed        -           -      -
- no model given: placed for one ring over all ranks, bytes unknown.

Nodes
ns/wide: n[1-3] (busiest uplink: l0, 2.5 ms)
ns/half: n0

Not placed
ns/late (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing.
  No node has room: 4 of 4 lack free nvidia.com/gpu. It would fit within 2 h,
  when ns/wide ends.

3 jobs: 2 placed, 1 not placed. They take 28 GPUs; 0 of 32 stay free.
)");
}

TEST(PlanTextTest, AssumedLinksAreMarked) {
  testing::FabricShape shape = FourNodes();
  Scene scene(shape);
  scene.inputs.fabrics[0].spec.levels[1].link = {};
  scene.inputs.fabrics[0].spec.levels[0].link = {};
  scene.inputs.fabrics[0].spec.outside = {};
  scene.Job("wide", 3).model = testing::MeasuredData(1'000'000'000);
  EXPECT_EQ(Text(Planned(scene)),
            R"(JOB      WORKERS  SPINE  LEAF  NODE  CROSS-NODE  OF BEST  COST/BOUND    COMM
ns/wide        3      1     2     3        3 GB    100 %      100 %*  40 ms*
* some link bandwidths of this fabric are assumed, not declared.

Nodes
ns/wide: n[0-2] (busiest uplink: l0, 2.5 ms*)

note: fabric "default": the bandwidth of some links is assumed (LinksDeclared is False), and times
  and percentages depend on it (LinksAssumed)
)");
}

TEST(PlanTextTest, FabricsAreNamedWhereThereAreSeveral) {
  Scene scene(FourNodes());
  testing::FabricShape other;
  other.accelerator = "amd.com/gpu";
  other.nodes = {{.name = "m0", .domains = {"s0", "l0"}}, {.name = "m1", .domains = {"s0", "l0"}}};
  for (testing::TestNode& node : other.nodes) node.labels = {{"kind", "amd"}};
  scene.AddNodes(other);
  api::Fabric amd = scene.inputs.fabrics[0];
  amd.meta.key.name = "amd";
  amd.spec.node_selector->match_labels = {{"kind", "amd"}};
  scene.inputs.fabrics[0].spec.node_selector->match_expressions = {{"kind", "DoesNotExist", {}}};
  scene.inputs.fabrics.push_back(amd);
  scene.Job("a", 1).fabric_name = "default";
  scene.Job("b", 1);
  EXPECT_EQ(Text(Planned(scene)),
            R"(JOB   WORKERS  FABRIC   SPINE  LEAF  NODE  CROSS-NODE  OF BEST  COST/BOUND  COMM
ns/a        1  default      1     1     1           -        -       100 %     -
ns/b        1  default      1     1     1           -        -       100 %     -
- no model given: placed for one ring over all ranks, bytes unknown.

Nodes
ns/a: n0
ns/b: n1

2 jobs: 2 placed. They take 16 GPUs; 32 of 48 stay free.
)");
}

TEST(PlanTextTest, WithoutJobsThereAreOnlyNotes) {
  EXPECT_EQ(Text(Planned(Scene(FourNodes()))), "No TrainingJob or Placement waits for nodes.\n");
  testing::FabricShape shape = FourNodes();
  shape.nodes[3].domains[1].clear();
  EXPECT_EQ(Text(Planned(Scene(shape))),
            R"(No TrainingJob or Placement waits for nodes.
warning: fabric "default": 1 node is incomplete and never used: n3 (n3 lacks the label test/leaf)
  (Incomplete)
)");
}

TEST(PlanTextTest, NotesStandWorstFirst) {
  EXPECT_EQ(NotesText({{cluster::Severity::kInfo, "Small", "one"},
                       {cluster::Severity::kError, "Large", "two"},
                       {cluster::Severity::kWarning, "Middling", "three\x1b[2J"}},
                      Plain(20)),
            R"(error: two (Large)
warning: three?[2J
  (Middling)
note: one (Small)
)");
}

}  // namespace
}  // namespace weft::render
