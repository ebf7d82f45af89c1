#include "operator/life/unready_node.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/life/job_status.h"
#include "operator/life/stage.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

std::string Message(const JobWorld& world, const char* type = "PodsReady") {
  const JobStatus status = world.status();
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? "" : condition->message;
}

// The node controller makes its pods not ready.
void Unready(JobWorld& world, std::size_t worker, UnixSeconds told) {
  const std::string node = "n" + std::to_string(worker);
  world.nodes[node] = {.not_ready_since = world.now, .unready_since = told};
  world.pods[worker]->ready = false;
}

JobWorld Running() {
  JobWorld world(4);
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(StageOf(world.status()), Stage::kAllReady);
  return world;
}

TEST(UnreadyNodeTest, AJobSaysAtOnceWhichNodeIsNotReadyAndWhenItsAttemptEnds) {
  JobWorld world = Running();
  const UnixSeconds now = world.now;
  Unready(world, 2, now - 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(StageOf(world.status()), Stage::kNotAllReady);
  EXPECT_EQ(Message(world), "worker 2 on n2: the node is not Ready since " + FormatTime(now - 1) +
                                "; the attempt ends at " + FormatTime(now + 60) +
                                " unless it is Ready before");
  // As it says.
  world.now = now + 59;
  world.Settle();
  EXPECT_FALSE(Is(world.status(), "Restarting"));
  world.now = now + 60;
  world.Settle();
  EXPECT_TRUE(Is(world.status(), "Restarting"));
  EXPECT_EQ(ReasonOf(world.status(), "Restarting"), "NodeLost");
}

TEST(UnreadyNodeTest, TheTextStaysWhileMoreNodesFollow) {
  JobWorld world = Running();
  world.options.node_loss_seconds = 600;
  Unready(world, 2, 0);
  ASSERT_TRUE(world.Settle());
  const std::string told = Message(world);
  EXPECT_NE(told.find("since " + FormatTime(world.now) + ";"), std::string::npos) << told;
  ASSERT_TRUE(world.RunFor(120, 1, [&] {
    if (world.now % 7 == 0) Unready(world, 1, 0);
    if (world.now % 9 == 0) world.nodes.erase("n1"), world.pods[1]->ready = true;
    EXPECT_EQ(Message(world), told);
  }));
}

TEST(UnreadyNodeTest, TheNodeIsNotNamedOnceItIsReadyAgain) {
  JobWorld world = Running();
  Unready(world, 2, 0);
  ASSERT_TRUE(world.Settle());
  world.nodes.clear();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Message(world), "some workers are not ready");
  world.pods[2]->ready = true;
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(Message(world), "every worker is ready");
}

TEST(UnreadyNodeTest, TheFirstToBeLostIsTheFirstWorkersIfSeveralAre) {
  std::vector<api::Pod> pods(4);
  std::vector<const api::Pod*> all;
  std::map<std::string, NodeState> nodes;
  for (std::size_t worker = pods.size(); worker-- > 0;) {
    pods[worker].meta.labels = {{"weft.dev/worker-index", std::to_string(worker)}};
    pods[worker].node_name = "n" + std::to_string(worker);
    nodes[pods[worker].node_name].not_ready_since = worker == 0 ? 200 : 100;
    all.push_back(&pods[worker]);
  }
  const NodeStates state = [&](const std::string& name) { return nodes.at(name); };
  const auto first = [&] { return FirstUnready(all, state, {.node_loss_seconds = 30}); };
  EXPECT_EQ(first(), (UnreadyNode{WorkerIndex{1}, "n1", 100, 130}));
  pods[1].phase = api::PodPhase::kSucceeded;  // nothing is lost with it
  EXPECT_EQ(first(), (UnreadyNode{WorkerIndex{2}, "n2", 100, 130}));
  nodes["n2"].exists = false;  // is told as lost
  nodes["n3"].not_ready_since.reset();
  EXPECT_EQ(first(), (UnreadyNode{WorkerIndex{0}, "n0", 200, 230}));
  pods[0].node_name.clear();
  EXPECT_EQ(first(), std::nullopt);
}

}  // namespace
}  // namespace weft::life
