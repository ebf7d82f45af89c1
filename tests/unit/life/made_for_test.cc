#include "operator/life/made_for.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

std::string Reason(const JobWorld& world, const char* type) {
  return std::string(ReasonOf(world.status(), type));
}

nlohmann::json SpecWithImage(const std::string& image) {
  const nlohmann::json container = {{"name", "trainer"}, {"image", image}};
  nlohmann::json job;
  job["spec"]["workers"]["template"]["spec"]["containers"] = nlohmann::json::array({container});
  return job;
}

// Suspended, changed and resumed before the operator looked.
TEST(MadeForTest, AnAttemptIsForOneSpec) {
  const nlohmann::json before = SpecWithImage("i:1");
  nlohmann::json late = before, models = before, packed = before;
  late["spec"]["activeDeadlineSeconds"] = 60'000;
  models["spec"]["accelerator"]["models"] = {"A100"};
  packed["spec"]["topology"]["level"] = "leaf";
  for (const nlohmann::json& now : {before, late, SpecWithImage("i:2"), models, packed}) {
    const bool edited = now != before && now != late;
    JobWorld world(3);
    world.job.raw = std::make_shared<const nlohmann::json>(before);
    world.Settle();
    world.job.raw = std::make_shared<const nlohmann::json>(now);
    world.job.meta.generation += 3;
    ASSERT_TRUE(world.RunFor(60, 1));
    EXPECT_EQ(world.status().attempt, edited ? 2 : 1);
    EXPECT_EQ(Reason(world, "Restarting"), edited ? "SpecChanged" : "");
    EXPECT_EQ(PhaseOf(world.status()), "Running");
  }
}

// A program has failed for the last time. Until the job fails, which waits for news of its node,
// its user may put it right.
TEST(MadeForTest, ALastFailureOfAnEarlierSpecIsNotHeldAgainstTheNext) {
  JobWorld world(3);
  world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:1"));
  world.Settle();
  world.pods[1]->phase = api::PodPhase::kFailed;
  world.pods[1]->failure = api::Pod::Failure{"trainer", "Error", 1, "", world.now};
  world.Settle();
  ASSERT_EQ(Reason(world, "Failed"), "") << "it waits";
  world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:2"));
  world.job.meta.generation += 3;
  ASSERT_TRUE(world.RunFor(world.options.node_news_seconds + 60, 1));
  EXPECT_EQ(Reason(world, "Restarting"), "SpecChanged");
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  EXPECT_EQ(world.status().record.restarts, 0);
}

// The other ways in which a failure is the last one.
TEST(MadeForTest, NoLastFailureOfAnEarlierSpecIsHeldAgainstTheNext) {
  const auto reason = [](bool changed, auto fail) {
    JobWorld world(3);
    world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:1"));
    world.Settle();
    fail(world);
    if (changed) {
      world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:2"));
      world.job.meta.generation += 3;
    }
    EXPECT_TRUE(world.RunFor(world.options.node_news_seconds + 60, 1));
    return Reason(world, changed ? "Restarting" : "Failed");
  };
  const auto end = [](JobWorld& world, int code) {
    world.pods[1]->phase = api::PodPhase::kFailed;
    world.pods[1]->failure = api::Pod::Failure{"trainer", "Error", code, "", world.now};
  };
  const auto missing = [&](JobWorld& world) {
    world.job.failure_policy.max_restarts = 3;
    end(world, 127);
    EXPECT_TRUE(world.RunFor(600, 1));
    EXPECT_EQ(world.status().attempt, 2);
    end(world, 127);
  };
  EXPECT_EQ(reason(false, missing), "Error");
  EXPECT_EQ(reason(true, missing), "SpecChanged");
  const auto deleted = [](JobWorld& world) {
    world.job.failure_policy.infrastructure = "Fail";
    world.pods.erase(world.pods.begin() + 1);
  };
  EXPECT_EQ(reason(false, deleted), "PodDeleted");
  EXPECT_EQ(reason(true, deleted), "SpecChanged");
}

TEST(MadeForTest, APlanForAnEarlierSpecIsNotTaken) {
  JobWorld world(3);
  world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:1"));
  world.job.suspend = true;
  world.Settle();
  auto old = std::make_unique<api::Placement>();
  old->meta.key = {"team-a", "llama-1"};
  old->meta.labels.Set("weft.dev/attempt", "1");
  old->meta.annotations.Set(kMadeForAnnotation, MadeFor(world.job));
  old->workers = 3;
  old->nodes = {"n5", "n4", "n3"};
  world.placements.push_back(std::move(old));
  world.job.raw = std::make_shared<const nlohmann::json>(SpecWithImage("i:2"));
  world.job.suspend = false;
  world.job.meta.generation += 2;
  ASSERT_TRUE(world.RunFor(60, 1));
  EXPECT_EQ(PhaseOf(world.status()), "Running");
  ASSERT_EQ(world.placements.size(), 1U);
  EXPECT_EQ(world.placements.front()->nodes.front(), world.fleet.front());
}

}  // namespace
}  // namespace weft::life
