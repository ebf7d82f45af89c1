#include "operator/render/lint_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using decide::FourNodes;
using decide::Scene;

TEST(LintTextTest, FindingsStandUnderTheirObjects) {
  Scene scene(FourNodes());
  scene.Job("wide", 2).parallelism.tensor = 16;
  scene.inputs.jobs.Edit(scene.inputs.jobs.size() - 1).expected_duration_seconds = 100;
  scene.Job("huge", 5).topology.required = "leaf";
  const decide::Cluster cluster = scene.Build();
  EXPECT_EQ(LintText(report::Lint(cluster), Plain(80)), R"(jobs.yaml: TrainingJob ns/wide
  warning: spec.parallelism.tensor: a tensor group of 16 ranks needs 2 workers,
    and the largest node takes 1: its all-reduces of every layer leave the
    fastest network (TensorLeavesScaleUp)
  info: spec.model: without a model the job counts as one ring over its ranks;
    its real traffic may want other neighbours (NoModel)
jobs.yaml: TrainingJob ns/huge
  error: spec.workers: Never fits this fabric, not even with nothing else
    running. Fabric "default" has room for 4 of 5 workers: 8 nvidia.com/gpu are
    missing. (NeverFits)
  info: spec.expectedDurationSeconds: without it, nobody can tell when the job's
    nodes come free, and no shorter job is placed around it (NoExpectedDuration)
  info: spec.model: without a model the job counts as one ring over its ranks;
    its real traffic may want other neighbours (NoModel)
)");
}

TEST(LintTextTest, AnObjectWithoutFindingsIsNotNamed) {
  EXPECT_EQ(LintText({}, Plain()), "Nothing to complain about.\n");
}

TEST(LintTextTest, ColourIsOnTheSeverityAlone) {
  report::LintReport report;
  report.findings = {{decide::Severity::kWarning, "a.yaml", "", "Rule", "It is\x1b[2J so."}};
  EXPECT_EQ(LintText(report, {.colour = true}),
            "\x1b[1ma.yaml\x1b[0m\n  \x1b[33mwarning\x1b[0m: It is?[2J so. (Rule)\n");
}

}  // namespace
}  // namespace weft::render
