#include "operator/plan/outlook.h"

#include <gtest/gtest.h>

#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

// n0 to n3 are held by the jobs b0 to b3, which end after so many seconds.
testing::Scene Busy(const std::vector<std::int64_t>& seconds) {
  testing::Scene scene(testing::FourNodes());
  for (std::size_t n = 0; n < seconds.size(); ++n) {
    const std::string name = "b" + std::to_string(n);
    scene.Job(name, 1).expected_duration_seconds = seconds[n];
    scene.Placement(name + "-1", 1, {"n" + std::to_string(n)});
  }
  return scene;
}

std::string OutlookOf(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  const Refused* refused = report->entries.back().refused();
  if (refused == nullptr) return "placed";
  const FitTime& fit_time = refused->fit_time;
  if (!fit_time.within_seconds) return "unknown";
  return std::to_string(*fit_time.within_seconds) + " after " + fit_time.after;
}

TEST(WhenItFits, IsTheEarliestEndAfterWhichThereIsRoom) {
  testing::Scene scene = Busy({400, 100, 300, 200});
  api::TrainingJob& job = scene.Job("j", 1);
  EXPECT_EQ(OutlookOf(scene), "100 after ns/b1");
  job.replicas = 2;
  EXPECT_EQ(OutlookOf(scene), "200 after ns/b3");
  job.replicas = 3;
  EXPECT_EQ(OutlookOf(scene), "300 after ns/b2");
  job.replicas = 4;
  EXPECT_EQ(OutlookOf(scene), "400 after ns/b0");
  job.replicas = 2;
  job.topology.required = "leaf";
  EXPECT_EQ(OutlookOf(scene), "300 after ns/b2");
  job.replicas = 5;
  EXPECT_EQ(OutlookOf(scene), "unknown");
}

TEST(WhenItFits, OfTwoThatEndTogetherNamesTheLaterName) {
  testing::Scene scene = Busy({100, 100, 500, 500});
  scene.Job("j", 2);
  EXPECT_EQ(OutlookOf(scene), "100 after ns/b1");
}

TEST(WhenItFits, IsUnknownWhereTooFewSayWhenTheyEnd) {
  testing::Scene scene = Busy({100, 100, 100, 100});
  scene.inputs.jobs.Edit(0).expected_duration_seconds = std::nullopt;
  scene.Job("j", 3);
  EXPECT_EQ(OutlookOf(scene), "100 after ns/b3");
  scene.inputs.jobs.Edit(4).replicas = 4;
  EXPECT_EQ(OutlookOf(scene), "unknown");
}

TEST(WhenItFits, CountsWhatThisPlanStarts) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("first", 3).expected_duration_seconds = 50;
  scene.Job("j", 2);
  EXPECT_EQ(OutlookOf(scene), "50 after ns/first");
}

TEST(FitTimeText, SaysWhenOrWhyNot) {
  EXPECT_EQ(FitTimeText({7200, "ns/x"}, true), "It would fit within 2 h, when ns/x ends.");
  EXPECT_EQ(FitTimeText({}, false),
            "It never fits this fabric, not even with nothing else running.");
  EXPECT_EQ(
      FitTimeText({}, true),
      "Its start time is unknown: too few of the running jobs state expectedDurationSeconds.");
}

}  // namespace
}  // namespace weft::plan
