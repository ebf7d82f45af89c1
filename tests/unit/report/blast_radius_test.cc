#include "operator/report/blast_radius.h"

#include <gtest/gtest.h>

#include "operator/report/explain_held.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::Scene;

std::vector<std::string> Radii(const Scene& scene, const std::string& job) {
  const auto held = ExplainHeld(scene.Build(), {job});
  std::vector<std::string> texts;
  for (const BlastRadius& radius : held->front().explanation.blast) {
    texts.push_back(BlastText(radius));
  }
  return texts;
}

// Three leaves of four nodes; three nodes are free.
TEST(BlastRadius, SaysForEachLevelWhetherTheWorkersOfItsFullestDomainCouldBeReplaced) {
  Scene scene(testing::Leaves({{8, 8, 8, 8}, {8, 8, 8, 8}, {8, 8, 8, 8}}));
  const auto hold = [&](const std::string& name, const std::vector<std::string>& nodes) {
    const auto workers = static_cast<std::uint32_t>(nodes.size());
    scene.Job(name, workers);
    scene.Placement(name + "-1", workers, nodes).meta.labels = {{"weft.dev/job-name", name}};
  };
  hold("wide", {"n00", "n01", "n02", "n03", "n04", "n05"});
  hold("leaf", {"n08", "n09", "n10"});
  scene.inputs.jobs.Edit(1).topology.required = "leaf";
  EXPECT_EQ(
      Radii(scene, "wide"),
      (std::vector<std::string>{
          "spine s0: 6 workers; they could not be replaced: it holds all workers",
          "leaf l0: 4 workers; they could not be replaced: no free node for 1 worker elsewhere",
          "node n00: 1 worker; it could be replaced with free nodes in n06, if only this job "
          "needed them"}));
  EXPECT_EQ(Radii(scene, "leaf"),
            (std::vector<std::string>{
                "spine s0: 3 workers; they could not be replaced: it holds all workers",
                "leaf l2: 3 workers; they could not be replaced: it holds all workers",
                "node n08: 1 worker; it could be replaced with free nodes in n11, if only this job "
                "needed them"}));
}

}  // namespace
}  // namespace weft::report
