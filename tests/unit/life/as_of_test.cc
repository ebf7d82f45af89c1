#include "operator/life/as_of.h"

#include <gtest/gtest.h>

namespace weft::life {
namespace {

TEST(SetTimes, AJobWithNodesHasItsExcludedNodesButDoesNotWait) {
  const UnixSeconds now = *ParseTime("2026-01-01T00:00:00Z");
  const std::string until = "2026-01-01T00:05:00Z";
  api::TrainingJob job;
  job.record.excluded = {{"n1", until, 1, api::ExclusionEffect::kNoSchedule},
                         {"n2", until, 2, api::ExclusionEffect::kPreferNoSchedule}};
  job.conditions = {{"Placed", "True", "", "", "2025-12-31T23:00:00Z"}};
  api::Inputs live;
  live.jobs.push_back(job);
  job.conditions[0].status = "False";
  live.jobs.push_back(job);
  SetTimes(live, now);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(live.jobs[i].wait.excluded_nodes, std::vector<std::string>{"n1"});
    EXPECT_EQ(live.jobs[i].wait.avoided_nodes, std::vector<std::string>{"n2"});
  }
  EXPECT_FALSE(live.jobs[0].wait.waited_seconds);
  EXPECT_EQ(live.jobs[1].wait.waited_seconds, 3600);
}

}  // namespace
}  // namespace weft::life
