#include "operator/render/queue_text.h"

#include <gtest/gtest.h>

namespace weft::render {
namespace {

std::vector<report::QueueRow> JobAndWorkload() {
  report::QueueRow job;
  job.position = 1;
  job.key = {"team-a", "llama"};
  job.kind = "TrainingJob";
  job.workers = 2;
  job.accelerators = 16;
  job.waited_seconds = 60;
  job.start.within_seconds = 0;
  report::QueueRow workload;
  workload.key = {"team-b", "job-eval-1a2b3"};
  workload.kind = "Workload";
  workload.priority = 5;
  workload.workers = 4;
  workload.accelerators = 32;
  workload.reason = "QuotaPending";
  workload.why = "queue team-b: 16 more needed";
  return {job, workload};
}

TEST(QueueTextTest, AWorkloadWithoutQuotaHasNoPosition) {
  EXPECT_EQ(
      QueueText(JobAndWorkload(), {}, false),
      R"(POSITION  JOB                               PRIORITY  WORKERS  GPUS  WAITED  STARTS   WHY
       1  team-a/llama                             0        2    16    60 s  now      -
       -  team-b/job-eval-1a2b3 (Workload)         5        4    32       -  unknown  QuotaPending

Why they wait
team-b/job-eval-1a2b3 (Workload): queue team-b: 16 more needed
)");
}

TEST(QueueTextTest, AnEmptyQueueSaysSo) {
  EXPECT_EQ(QueueText({}, {}, false), "No job waits for nodes.\n");
}

}  // namespace
}  // namespace weft::render
