#include "operator/render/audit_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

std::string Text(const Scene& scene, int columns = 100) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = report::Audit(cluster);
  return report ? AuditText(cluster, *report, Plain(columns)) : report.error().message;
}

// A Job's pods, worker by worker, of so many GPUs each.
void Gang(Scene& scene, const std::string& name, const std::vector<std::string>& nodes,
          int gpus = 8) {
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    api::Pod& pod = scene.Pod(
        name + "-" + std::to_string(w), nodes[w],
        {{"batch.kubernetes.io/job-completion-index", std::to_string(w)}, {"gang", name}});
    pod.pod.requests = {{testing::kGpu, gpus}};
    pod.meta.owners = {{"batch/v1", "Job", name, "", true}};
  }
}

void Beside(Scene& scene, const std::string& name, std::uint32_t workers, std::uint32_t gpus) {
  api::Placement& beside = scene.Placement(name, workers);
  beside.pod_selector = fabric::LabelSelector{{{"gang", name}}, {}};
  beside.accelerator = {testing::kGpu, gpus};
  beside.model = testing::MeasuredData(1'000'000'000);
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
ns/split: 1 spine, 2 leaf, 2 node now; 1 spine, 1 leaf, 1 node at best. Now it costs something where
  the chosen one costs nothing.
ns/near: 1 spine, 1 leaf, 1 node now; 1 spine, 1 leaf, 1 node at best. Now it costs no more, but
  breaks up 1 more wholly free domain of level node.

Gangs with a model: 1 gang, 2 workers; link time a step 80 ms now, 0 s at best (best is 0)
  LEAVING A   NOW  BEST  RATIO
  spine       0 B   0 B  1.00x
  leaf       2 GB   0 B      -

Gangs as rings: 1 gang, 2 workers; cost over the best (+0 %)
  LEAVING A  NOW  BEST  RATIO
  spine      0 B   0 B  1.00x
  leaf       0 B   0 B  1.00x

Assumed
  Best is where `weft plan` would place one gang, if its own nodes were free and all other pods
  stayed. Rules that tie its pods to single nodes (nodeName, host names) are ignored; its product
  and capacity type are kept.
  1 gang has no Placement and no annotations that state the traffic: the ranks count as one ring, in
  the order of the pods' index or name, with one byte per rank. Only the ratios of a ring mean
  something, not its bytes and times.
)");
}

TEST(AuditTextTest, AGangWithoutAModelCountsAsARing) {
  Scene scene(FourNodes());
  Gang(scene, "split", {"n0", "n2"});
  EXPECT_EQ(Text(scene, 80), R"(GANG      KIND  WORKERS  CROSS-NODE NOW  AT BEST  COST OVER BEST
ns/split  Job         2            ring     ring          +100 %

Spans
ns/split: 1 spine, 2 leaf, 2 node now; 1 spine, 1 leaf, 2 node at best. Now it
  costs 100 % more (0.04 ns of link time).

Fleet: 1 gang, 2 workers; cost over the best (+100 %)
  LEAVING A  NOW  BEST  RATIO
  spine      0 B   0 B  1.00x
  leaf       2 B   0 B      -

Assumed
  Best is where `weft plan` would place one gang, if its own nodes were free and
  all other pods stayed. Rules that tie its pods to single nodes (nodeName, host
  names) are ignored; its product and capacity type are kept.
  1 gang has no Placement and no annotations that state the traffic: the ranks
  count as one ring, in the order of the pods' index or name, with one byte per
  rank. Only the ratios of a ring mean something, not its bytes and times.
)");
}

TEST(AuditTextTest, WithoutGangsItSaysSo) {
  Scene scene(FourNodes());
  scene.Pod("lone", "n0");
  EXPECT_EQ(Text(scene), "No gang of two or more workers with accelerators is running.\n");
}

}  // namespace
}  // namespace weft::render
