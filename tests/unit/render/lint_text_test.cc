#include "operator/render/lint_text.h"
#include "operator/cluster/note.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

TEST(LintTextTest, FindingsStandUnderTheirObjects) {
  Scene scene(FourNodes());
  scene.Job("wide", 2).parallelism.tensor = 16;
  scene.inputs.jobs.Edit(scene.inputs.jobs.size() - 1).expected_duration_seconds = 100;
  scene.Job("huge", 5).topology.required = "leaf";
  const cluster::Cluster cluster = scene.Build();
  EXPECT_EQ(LintText(report::Lint(cluster), Plain(80)), R"(jobs.yaml: TrainingJob ns/wide
  warning: spec.parallelism.tensor: a tensor group of 16 ranks needs 2 workers,
    but the largest node has room for 1: the all-reduces of every layer leave
    the fastest network (TensorLeavesScaleUp)
  info: spec.model: without a model the job's traffic counts as one ring over
    its ranks, which may differ from its real traffic (NoModel)
jobs.yaml: TrainingJob ns/huge
  error: spec.workers: It never fits this fabric, not even with nothing else
    running. Fabric "default" has room for 4 of 5 workers: 8 nvidia.com/gpu are
    missing. (NeverFits)
  info: spec.expectedDurationSeconds: without it, Weft cannot tell when the
    job's nodes come free, and cannot start it on nodes reserved for another job
    (NoExpectedDuration)
  info: spec.model: without a model the job's traffic counts as one ring over
    its ranks, which may differ from its real traffic (NoModel)
)");
}

TEST(LintTextTest, AnObjectWithoutFindingsIsNotNamed) {
  EXPECT_EQ(LintText({}, Plain()), "No findings.\n");
}

TEST(LintTextTest, ColourIsOnTheSeverityAlone) {
  report::LintReport report;
  report.findings = {{cluster::Severity::kWarning, "a.yaml", "", "Rule", "It is\x1b[2J so."}};
  EXPECT_EQ(LintText(report, {.colour = true}),
            "\x1b[1ma.yaml\x1b[0m\n  \x1b[33mwarning\x1b[0m: It is?[2J so. (Rule)\n");
}

}  // namespace
}  // namespace weft::render
