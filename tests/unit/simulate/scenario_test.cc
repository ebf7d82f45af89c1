#include "operator/simulate/scenario.h"

#include <gtest/gtest.h>

#include "tests/unit/simulate/fleet_scene.h"

namespace weft::simulate {
namespace {

// One job that waits and three that have ended: complete, failed after a suspension, never started.
cluster::Cluster WithAPast() {
  testing::Scene scene(testing::FourNodes());
  const auto add = [&](const char* name, const char* created, const char* start, const char* end) {
    api::TrainingJob& job = scene.Job(name, 2);
    job.meta.creation_timestamp = created;
    job.record.start_time = start;
    job.record.completion_time = end;
    if (*end != '\0') job.conditions.push_back({"Complete", "True", "Done", "", created});
    job.meta.annotations.Set(kRunAnnotation, "7");
    return &job;
  };
  add("waits", "2026-01-01T02:00:00Z", "", "");
  add("done", "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "2026-01-01T01:10:00Z");
  api::TrainingJob* failed =
      add("failed", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:30:00Z");
  failed->conditions.front().type = "Failed";
  failed->record.suspended_seconds = 600;
  add("refused", "2026-01-01T01:00:00Z", "", "2026-01-01T01:30:00Z");
  return scene.Build();
}

std::string JobsOf(const cluster::Cluster& cluster, bool past) {
  ScenarioOptions options;
  options.past = past;
  const auto scenario = MakeScenario(cluster, nullptr, options);
  EXPECT_TRUE(scenario);
  std::string text;
  for (const Job& job : scenario->jobs) {
    text += (text.empty() ? "" : "; ") + job.name + " at " + std::to_string(job.arrival / kSecond) +
            " for " + std::to_string(job.run / kSecond);
  }
  return text;
}

TEST(Scenario, JobsThatHaveEndedRunAgainWhenTheyWereCreatedAndAsLongAsTheyRan) {
  const cluster::Cluster cluster = WithAPast();
  EXPECT_EQ(JobsOf(cluster, false), "ns/waits at 0 for 7");
  EXPECT_EQ(JobsOf(cluster, true),
            "ns/done at 0 for 3600; ns/failed at 3600 for 1200; ns/waits at 7200 for 7");
}

}  // namespace
}  // namespace weft::simulate
