#include "operator/plan/forecast.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr std::int64_t kReserveAfter = 600;

// Four nodes, of which a job holds n0 for so long (or does not say).
struct Queue : testing::Scene {
  explicit Queue(std::optional<std::int64_t> busy) : testing::Scene(testing::FourNodes()) {
    Job("busy", 1).expected_duration_seconds = busy;
    inputs.jobs.Edit(0).attempt = 1;
    Placement("busy-1", 1, {"n0"});
  }

  api::TrainingJob& Waits(const char* name, std::uint32_t workers,
                          std::optional<std::int64_t> expected, std::int64_t waited = 0) {
    api::TrainingJob& job = Job(name, workers);
    job.expected_duration_seconds = expected;
    job.wait.waited_seconds = waited;
    return job;
  }

  // "SECONDS after JOB", "SECONDS" or "unknown", by name of the job.
  std::map<std::string, std::string> Starts() const {
    const cluster::Cluster cluster = Build();
    PlanOptions options;
    options.order = cluster::Order::kFile;
    options.reserve_after_seconds = kReserveAfter;
    const auto report = Plan(cluster, options);
    EXPECT_TRUE(report);
    const auto starts = ForecastStarts(cluster, *report, kReserveAfter);
    std::map<std::string, std::string> texts;
    for (std::size_t e = 0; e < starts.size(); ++e) {
      std::string& text = texts[report->entries[e].workload.key().name];
      const ExpectedStart& start = starts[e];
      text = start.within_seconds ? std::to_string(*start.within_seconds) : "unknown";
      if (!start.after.empty()) text += " after " + start.after;
    }
    return texts;
  }
};

using Texts = std::map<std::string, std::string>;

TEST(ForecastTest, JobsStartOneAfterAnotherAsTheOnesBeforeThemEnd) {
  Queue queue(3600);
  queue.Waits("first", 4, 7200);
  queue.Waits("second", 4, 60);
  queue.Waits("third", 4, std::nullopt);
  EXPECT_EQ(queue.Starts(), (Texts{{"first", "3600 after ns/busy"},
                                   {"second", "10800 after ns/first"},
                                   {"third", "10860 after ns/second"}}));
}

TEST(ForecastTest, AStartBehindAJobOfUnknownDurationIsUnknown) {
  Queue queue(std::nullopt);
  queue.Waits("whole", 4, 60);
  queue.Waits("part", 3, std::nullopt);
  queue.Waits("rest", 1, 60);
  EXPECT_EQ(queue.Starts(), (Texts{{"whole", "unknown"}, {"part", "0"}, {"rest", "unknown"}}));
}

TEST(ForecastTest, AYoungJobIsOvertakenAndOneThatHasWaitedLongIsNot) {
  const auto starts = [](std::int64_t waited) {
    Queue queue(3600);
    queue.Waits("taken", 3, 300);
    queue.Waits("big", 4, 100, waited);
    queue.Waits("long", 3, 5000);
    return queue.Starts();
  };
  EXPECT_EQ(starts(0),
            (Texts{{"taken", "0"}, {"long", "300 after ns/taken"}, {"big", "5300 after ns/long"}}));
  EXPECT_EQ(starts(kReserveAfter),
            (Texts{{"taken", "0"}, {"big", "3600 after ns/busy"}, {"long", "3700 after ns/big"}}));
}

TEST(ForecastTest, TheEndOfTheWaitForThePreferredLevelLetsAJobStart) {
  Queue queue(std::nullopt);
  queue.Placement("other", 1, {"n2"});
  api::TrainingJob& job = queue.Waits("picky", 2, 60, 100);
  job.topology.preferred = "leaf";
  job.topology.wait_for_preferred_seconds = 400;
  queue.Waits("next", 2, 60);
  EXPECT_EQ(queue.Starts(), (Texts{{"picky", "300 after ns/next"}, {"next", "0"}}));
}

TEST(ForecastTest, AJobThatNeverFitsHasNoStart) {
  Queue queue(60);
  queue.Waits("huge", 5, 60);
  EXPECT_EQ(queue.Starts(), (Texts{{"huge", "unknown"}}));
}

}  // namespace
}  // namespace weft::plan
