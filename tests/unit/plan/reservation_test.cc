#include "operator/plan/reservation.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr std::int64_t kReserveAfter = 600;

// Four nodes, one of them in use by a job that says it takes so long (or does not say).
testing::Scene BusyNode(std::optional<std::int64_t> expected) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("busy", 1).expected_duration_seconds = expected;
  scene.Placement("busy-1", 1, {"n0"});
  scene.inputs.jobs.Edit(scene.inputs.jobs.size() - 1).attempt = 1;
  return scene;
}

api::TrainingJob& Waiting(testing::Scene& scene, const char* name, std::uint32_t workers,
                          std::int64_t seconds) {
  api::TrainingJob& job = scene.Job(name, workers);
  job.wait.waited_seconds = seconds;
  return job;
}

// "reason" or "placed", by name.
std::string OutcomeOf(const PlanReport& report, const std::string& name) {
  for (const PlanEntry& entry : report.entries) {
    if (entry.workload.key().name != name) continue;
    return entry.placed() != nullptr ? "placed" : entry.refused()->reason;
  }
  return "absent";
}

PlanReport PlanOf(const cluster::Cluster& cluster) {
  PlanOptions options;
  options.reserve_after_seconds = kReserveAfter;
  auto report = Plan(cluster, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

TEST(ReservationTest, AJobThatHasNotWaitedLongIsOvertaken) {
  testing::Scene scene = BusyNode(std::nullopt);
  Waiting(scene, "big", 4, kReserveAfter - 1);
  scene.Job("small", 1);
  const cluster::Cluster cluster = scene.Build();
  const PlanReport report = PlanOf(cluster);
  EXPECT_EQ(OutcomeOf(report, "big"), "InsufficientCapacity");
  EXPECT_EQ(OutcomeOf(report, "small"), "placed");
}

TEST(ReservationTest, AJobThatHasWaitedLongKeepsItsNodes) {
  testing::Scene scene = BusyNode(std::nullopt);
  Waiting(scene, "big", 4, kReserveAfter);
  scene.Job("small", 1);
  const cluster::Cluster cluster = scene.Build();
  const PlanReport report = PlanOf(cluster);
  EXPECT_EQ(OutcomeOf(report, "big"), "InsufficientCapacity");
  EXPECT_EQ(OutcomeOf(report, "small"), "HeldBack");
  EXPECT_NE(report.entries.back().refused()->message.find("reserved for ns/big"), std::string::npos)
      << report.entries.back().refused()->message;
}

// While nobody knows when the nodes are free, they must not idle without a limit.
TEST(ReservationTest, WithoutAKnownEndTakesTurnsWithTheOthers) {
  const auto small = [](std::int64_t waited, std::optional<std::int64_t> busy = std::nullopt) {
    testing::Scene scene = BusyNode(busy);
    Waiting(scene, "big", 4, waited);
    scene.Job("small", 1);
    const cluster::Cluster cluster = scene.Build();
    const PlanReport report = PlanOf(cluster);
    const Refused* refused = report.entries.back().refused();
    return std::pair(OutcomeOf(report, "small"), refused ? refused->held_seconds : std::nullopt);
  };
  constexpr std::int64_t kEnd = kReserveAfter + kReservationTurnSeconds;
  EXPECT_EQ(small(kReserveAfter),
            std::pair(std::string("HeldBack"), std::optional(kReservationTurnSeconds)));
  EXPECT_EQ(small(kEnd - 1), std::pair(std::string("HeldBack"), std::optional<std::int64_t>(1)));
  EXPECT_EQ(small(kEnd).first, "placed");
  EXPECT_EQ(small(kEnd + kReservationTurnSeconds - 1).first, "placed");
  EXPECT_EQ(small(kEnd + kReservationTurnSeconds).first, "HeldBack");
  // With a known end it stays until then.
  EXPECT_EQ(small(kEnd, 3600), std::pair(std::string("HeldBack"), std::optional<std::int64_t>()));
}

TEST(ReservationTest, AJobThatEndsBeforeTheReservationBeginsIsLetThrough) {
  testing::Scene scene = BusyNode(3600);
  Waiting(scene, "big", 4, kReserveAfter);
  scene.Job("short", 1).expected_duration_seconds = 3600;
  scene.Job("long", 1).expected_duration_seconds = 3601;
  const cluster::Cluster cluster = scene.Build();
  const PlanReport report = PlanOf(cluster);
  EXPECT_EQ(OutcomeOf(report, "short"), "placed");
  EXPECT_EQ(OutcomeOf(report, "long"), "HeldBack");
}

TEST(ReservationTest, BeginsAtTheSameTimeWhereTheRefusalIsNotExplained) {
  testing::Scene scene = BusyNode(3600);
  scene.Job("young", 4);
  Waiting(scene, "old", 4, kReserveAfter);
  scene.Job("short", 1).expected_duration_seconds = 3600;
  const cluster::Cluster cluster = scene.Build();
  PlanOptions options;
  options.reserve_after_seconds = kReserveAfter;
  options.explained_refusals = 1;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(OutcomeOf(*report, "old"), "InsufficientCapacity");
  EXPECT_EQ(OutcomeOf(*report, "short"), "placed");
}

TEST(ReservationTest, NodesThatAreNotKeptAreForEverybody) {
  testing::Scene scene = BusyNode(std::nullopt);
  Waiting(scene, "pair", 2, kReserveAfter).topology.required = "leaf";
  scene.Job("busy2", 1);
  scene.Placement("busy2-1", 1, {"n2"});
  scene.inputs.jobs.Edit(scene.inputs.jobs.size() - 1).attempt = 1;
  scene.Job("small", 1);
  const cluster::Cluster cluster = scene.Build();
  const PlanReport report = PlanOf(cluster);
  EXPECT_NE(OutcomeOf(report, "pair"), "placed");  // half of each leaf is in use
  EXPECT_EQ(OutcomeOf(report, "small"), "placed");
}

TEST(ReservationTest, NothingIsKeptForAJobThatNeverFits) {
  testing::Scene scene = BusyNode(std::nullopt);
  Waiting(scene, "huge", 5, kReserveAfter);
  scene.Job("small", 1);
  const cluster::Cluster cluster = scene.Build();
  EXPECT_EQ(OutcomeOf(PlanOf(cluster), "small"), "placed");
}

}  // namespace
}  // namespace weft::plan
