#include "operator/render/top_text.h"

#include <gtest/gtest.h>

namespace weft::render {
namespace {

using report::Overview;

Overview TwoJobs() {
  Overview overview;
  Overview::FabricRow fabric;
  fabric.name = "default";
  fabric.incomplete = 1;
  fabric.figures.nodes = {28, 2, 2, 1, 0};
  fabric.figures.accelerators[{"nvidia.com/gpu", ""}] = {.used = 24, .free = 232, .unavailable = 8};
  fabric.figures.levels = {{"leaf", 2, 16, {}, {}}, {"node", 33, 1, {}, {}}};
  overview.fabrics.push_back(fabric);
  Overview::JobRow running;
  running.key = {"team-a", "llama"};
  running.kind = "TrainingJob";
  running.phase = "Running";
  running.workers = 4;
  running.ready = 4;
  running.accelerators = 32;
  running.spans = "1 leaf, 4 node";
  running.cross_node = "144.5G";
  running.of_best = "100 %";
  running.age_seconds = 7300;
  Overview::JobRow waiting;
  waiting.key = {"team-b", "sweep"};
  waiting.kind = "Placement";
  waiting.phase = "Pending";
  waiting.workers = 80;
  waiting.accelerators = 640;
  waiting.reason = "InsufficientCapacity";
  waiting.why = "376 nvidia.com/gpu are missing.";
  overview.jobs = {running, waiting};
  overview.complete = 3;
  overview.other_accelerators = 8;
  return overview;
}

TEST(TopTextTest, FleetThenJobsThenWhyOneHasNoNodes) {
  EXPECT_EQ(TopText(TwoJobs(), {}, false),
            R"(FABRIC   NODES  FREE  IN USE  UNAVAILABLE  ACCELERATOR     ALL  IN USE  FREE
default     34    28       4            2  nvidia.com/gpu  264  24 9 %   232

JOB                       PHASE    WORKERS  GPUS  SPANS           CROSS-NODE  OF BEST  RESTARTS  AGE  WHY
team-a/llama              Running      4/4    32  1 leaf, 4 node      144.5G    100 %         0   2h  -
team-b/sweep (Placement)  Pending     0/80   640  -                        -        -         -    -  InsufficientCapacity

Ended: 3 complete, 0 failed.
Other pods hold 8 accelerators.

Without nodes
team-b/sweep: 376 nvidia.com/gpu are missing.
)");
}

TEST(TopTextTest, WideAddsTheLevels) {
  EXPECT_NE(TopText(TwoJobs(), {}, true).find(R"(
FABRIC   LEVEL  DOMAINS  LARGEST FREE BLOCK
default  leaf         2            16 nodes
default  node        33              1 node
)"),
            std::string::npos);
}

TEST(TopTextTest, AnIdleFleetSaysSo) {
  Overview overview = TwoJobs();
  overview.jobs.clear();
  EXPECT_NE(TopText(overview, {}, false).find("\nNo job waits or runs.\n"), std::string::npos);
}

TEST(TopTextTest, NamesAndReasonsCannotMoveATerminalsCursor) {
  Overview overview = TwoJobs();
  overview.jobs[1].why = "\x1b[2Jgone";
  overview.fabrics[0].name = "a\nb";
  const std::string text = TopText(overview, {}, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("a?b"), std::string::npos);
}

}  // namespace
}  // namespace weft::render
