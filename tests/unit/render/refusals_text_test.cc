#include "operator/render/refusals_text.h"
#include "operator/cluster/note.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

// Four nodes that a pod holds, and jobs of the given numbers of workers.
Scene Waiting(const std::vector<int>& workers) {
  Scene scene(FourNodes());
  for (const char* node : {"n0", "n1", "n2", "n3"}) {
    scene.Pod(std::string("on-") + node, node).pod.requests = {{testing::kGpu, 8}};
  }
  int number = 0;
  for (const int count : workers) scene.Job("job-" + std::to_string(++number), count);
  return scene;
}

std::string Text(const Scene& scene) { return RefusalsText(Planned(scene).report, Plain()); }

TEST(RefusalsTextTest, ManyJobsOfOneReasonStandTogether) {
  EXPECT_EQ(Text(Waiting({2, 3, 2, 4})), R"(
Not placed
4 jobs (InsufficientCapacity)
  The first, ns/job-1: Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing.
  No node has room: 4 of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of the
  running jobs state expectedDurationSeconds.
  Jobs: ns/job-[1-4]
Numbers and times of a group are those of its first job: weft explain JOB and -o json show those of
the others.
)");
}

TEST(RefusalsTextTest, JobsWithTheSameMessageNeedNoRemark) {
  EXPECT_EQ(Text(Waiting({2, 2})), R"(
Not placed
2 jobs (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of the running jobs state
  expectedDurationSeconds.
  Jobs: ns/job-[1,2]
)");
}

TEST(RefusalsTextTest, AFewJobsWithTheirOwnNumbersStandSingly) {
  EXPECT_EQ(Text(Waiting({2, 3})), R"(
Not placed
ns/job-1 (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of the running jobs state
  expectedDurationSeconds.
ns/job-2 (InsufficientCapacity)
  Fabric "default" has room for 0 of 3 workers: 24 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of the running jobs state
  expectedDurationSeconds.
)");
}

TEST(RefusalsTextTest, AJobThatNeverFitsIsOfAnotherKind) {
  EXPECT_EQ(Text(Waiting({2, 2, 9})), R"(
Not placed
2 jobs (InsufficientCapacity)
  Fabric "default" has room for 0 of 2 workers: 16 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of the running jobs state
  expectedDurationSeconds.
  Jobs: ns/job-[1,2]
ns/job-3 (InsufficientCapacity)
  Fabric "default" has room for 0 of 9 workers: 72 nvidia.com/gpu are missing. No node has room: 4
  of 4 lack free nvidia.com/gpu. It never fits this fabric, not even with nothing else running.
)");
}

TEST(JobNotesTest, OneNoteOfSeveralJobsStandsOnce) {
  auto planned = Planned(Waiting({1, 1, 1}));
  plan::PlanReport& report = planned.report;
  const cluster::Note note{cluster::Severity::kWarning, "Reason", "the same"};
  for (plan::PlanEntry& entry : report.entries) entry.notes = {note};
  report.entries[1].notes.push_back({cluster::Severity::kInfo, "Other", "its own"});
  std::vector<std::string> texts;
  for (const cluster::Note& one : JobNotes(report)) texts.push_back(one.reason + ": " + one.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"Reason: 3 jobs: the same: ns/job-[1-3]",
                                             "Other: ns/job-2: its own"}));
}

}  // namespace
}  // namespace weft::render
