#include "operator/life/restarts_alone.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/life/job_status.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

JobWorld Gang(const std::string& container) {
  JobWorld world(3);
  world.job.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(
      R"({"spec": {"workers": {"template": {"spec": {"containers": [)" + container + "]}}}}}"));
  EXPECT_TRUE(world.Settle());
  return world;
}

const api::Condition* Warning(const JobStatus& status) {
  return FindCondition(status, api::kRestartsAlone);
}

TEST(RestartsAloneTest, AContainerThatWasStartedAgainIsTold) {
  JobWorld world = Gang(R"({"name": "trainer"})");
  EXPECT_EQ(Warning(world.status()), nullptr);
  world.pods[1]->restarted = {{"logs", 9, 1}, {"trainer", 2, 137}};
  world.Settle();
  JobStatus status = world.status();
  ASSERT_NE(Warning(status), nullptr);
  EXPECT_EQ(Warning(status)->reason, "ContainerRestarted");
  EXPECT_TRUE(
      Warning(status)->message.starts_with("the kubelet has started container trainer of worker 1 "
                                           "on n1 again; its peers are not started "
                                           "again with it"))
      << Warning(status)->message;
  const int writes = world.counts.status;
  world.pods[1]->restarted[1].times = 3;
  world.pods[2]->restarted = {{"trainer", 1, 1}};
  world.Settle();
  EXPECT_EQ(world.counts.status, writes);  // a write for each restart would be many
}

TEST(RestartsAloneTest, ATemplateThatMayDoSoIsTold) {
  for (const auto& [container, why] :
       {std::pair{R"({"name": "trainer", "restartPolicyRules": [{"action": "Restart"}]})",
                  "container trainer has restartPolicyRules, by which"},
        {R"({"name": "trainer", "restartPolicy": "OnFailure"})",
         "container trainer has restartPolicy OnFailure, by which"}}) {
    const JobWorld world = Gang(container);
    const JobStatus status = world.status();
    ASSERT_NE(Warning(status), nullptr);
    EXPECT_EQ(Warning(status)->reason, "OwnRestartPolicy");
    EXPECT_TRUE(Warning(status)->message.starts_with(why)) << Warning(status)->message;
  }
}

TEST(RestartsAloneTest, ASidecarMayBeStartedAgain) {
  JobWorld world = Gang(R"({"name": "trainer"}, {"name": "logs", "restartPolicy": "Always"})");
  world.pods[1]->restarted = {{"logs", 9, 1}};
  world.Settle();
  EXPECT_EQ(Warning(world.status()), nullptr);
}

}  // namespace
}  // namespace weft::life
