#include "operator/render/audit_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using decide::FourNodes;
using decide::Scene;

std::string Text(const Scene& scene, int columns = 100) {
  const decide::Cluster cluster = scene.Build();
  const auto report = decide::Audit(cluster);
  return report ? AuditText(cluster, *report, Plain(columns)) : report.error().message;
}

// A Job's pods, worker by worker, of so many GPUs each.
void Gang(Scene& scene, const std::string& name, const std::vector<std::string>& nodes,
          int gpus = 8) {
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    api::Pod& pod = scene.Pod(
        name + "-" + std::to_string(w), nodes[w],
        {{"batch.kubernetes.io/job-completion-index", std::to_string(w)}, {"gang", name}});
    pod.pod.requests = {{decide::kGpu, gpus}};
    pod.meta.owners = {{"batch/v1", "Job", name, "", true}};
  }
}

void Beside(Scene& scene, const std::string& name, std::uint32_t workers, std::uint32_t gpus) {
  api::Placement& beside = scene.Placement(name, workers);
  beside.pod_selector = fabric::LabelSelector{{{"gang", name}}, {}};
  beside.accelerator = {decide::kGpu, gpus};
  beside.model = decide::MeasuredData(1'000'000'000);
}

TEST(AuditTextTest, ShowsGangsAgainstTheBestAndTheFleet) {
  Scene scene(FourNodes());
  Gang(scene, "split", {"n0", "n2"}, 4);
  Gang(scene, "near", {"n1", "n1"}, 2);
  Beside(scene, "split", 2, 4);
  EXPECT_EQ(Text(scene), R"(GANG      KIND  WORKERS  CROSS-NODE NOW  AT BEST  COST OVER BEST
ns/split  Job         2            2 GB      0 B       best is 0
ns/near   Job         2            ring     ring            +0 %

Spans
ns/split: 1 spine, 2 leaf, 2 node now; 1 spine, 1 leaf, 1 node at best
ns/near: 1 spine, 1 leaf, 1 node, as at best

Gangs with a model: 1 gang, 2 workers; link time a step 80 ms now, 0 s at best (best is 0)
  LEAVING A   NOW  BEST  RATIO
  spine       0 B   0 B  1.00x
  leaf       2 GB   0 B      -

Gangs as rings: 1 gang, 2 workers; link time a step 0 s now, 0 s at best (+0 %)
  LEAVING A  NOW  BEST  RATIO
  spine      0 B   0 B  1.00x
  leaf       0 B   0 B  1.00x

Best is what the same solver finds for a gang with the others where they are. A gang without a
Placement beside it counts as one ring over its ranks at one byte a rank.
)");
}

TEST(AuditTextTest, AGangWithoutAModelCountsAsARing) {
  Scene scene(FourNodes());
  Gang(scene, "split", {"n0", "n2"});
  EXPECT_EQ(Text(scene, 80), R"(GANG      KIND  WORKERS  CROSS-NODE NOW  AT BEST  COST OVER BEST
ns/split  Job         2            ring     ring          +100 %

Spans
ns/split: 1 spine, 2 leaf, 2 node now; 1 spine, 1 leaf, 2 node at best

Fleet: 1 gang, 2 workers; link time a step 0.08 ns now, 0.04 ns at best (+100 %)
  LEAVING A  NOW  BEST  RATIO
  spine      0 B   0 B  1.00x
  leaf       2 B   0 B      -

Best is what the same solver finds for a gang with the others where they are. A
gang without a Placement beside it counts as one ring over its ranks at one byte
a rank.
)");
}

TEST(AuditTextTest, WithoutGangsItSaysSo) {
  Scene scene(FourNodes());
  scene.Pod("lone", "n0");
  EXPECT_EQ(Text(scene), "No gang of two or more workers with accelerators is running.\n");
}

}  // namespace
}  // namespace weft::render
