#include "operator/life/fault.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "operator/life/exclusion.h"
#include "operator/life/job_status.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using testing::JobWorld;

std::string Message(const JobWorld& world, const char* type) {
  const JobStatus status = world.status();
  const api::Condition* condition = FindCondition(status, type);
  return condition == nullptr ? "" : condition->message;
}

// A job whose worker 0 runs mpirun for two ranks a worker.
JobWorld Mpi(std::uint32_t workers) {
  JobWorld world(workers);
  world.job.framework.type = api::FrameworkType::kMPI;
  world.job.accelerator.per_worker = 2;
  world.job.failure_policy.max_restarts = 9;
  world.job.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(R"({
      "spec": {"workers": {"template": {"spec": {"containers": [
          {"name": "proxy"},
          {"name": "trainer", "resources": {"limits": {"nvidia.com/gpu": 2}}}]}}}}})"));
  return world;
}

void FailWorker(JobWorld& world, std::size_t worker, const std::string& words,
                const std::string& reason = "Error", std::int64_t code = 1) {
  ASSERT_TRUE(world.Settle());
  world.pods[worker]->phase = api::PodPhase::kFailed;
  world.pods[worker]->ready = false;
  world.pods[worker]->failure = api::Pod::Failure{"trainer", reason, code, words, world.now};
}

TEST(FaultTest, TellsWhatTheContainerSaidLast) {
  JobWorld world(3);
  FailWorker(world, 2, "ValueError: loss is NaN");
  world.Settle();
  world.now += world.options.node_news_seconds;  // the others have not ended
  world.Settle();
  EXPECT_EQ(Message(world, "Failed"),
            "worker 2 on n2: container trainer ended with exit code 1 (Error); it said: "
            "ValueError: loss is NaN; failurePolicy.maxRestarts is 0");
  EXPECT_EQ(world.status().record.last_failure->message, "ValueError: loss is NaN");
  EXPECT_EQ(EncodeJobStatus(world.status())["lastFailure"]["message"], "ValueError: loss is NaN");
}

// The kubelet stops it by SIGTERM, and by SIGKILL after the grace period.
TEST(FaultTest, WhoDeletesAPodIsNotItsProgram) {
  struct Case {
    std::int64_t code;
    bool deleted;
    std::string cause, reason;
  };
  for (const Case& c :
       {Case{143, true, "Disrupted", "PodDeleted"}, Case{137, true, "Disrupted", "PodDeleted"},
        Case{1, true, "ProgramFailed", "Error"}, Case{143, false, "ProgramFailed", "Error"}}) {
    JobWorld world(3);
    world.job.failure_policy.max_restarts = 9;
    FailWorker(world, 1, "", "Error", c.code);
    world.pods[1]->meta.deleting = c.deleted;
    world.now += world.options.node_news_seconds;
    world.RunFor(60, 1);
    const auto& last = world.status().record.last_failure;
    ASSERT_TRUE(last) << c.code;
    EXPECT_EQ(last->cause, c.cause) << c.code << ' ' << c.deleted;
    EXPECT_EQ(last->reason, c.reason) << c.code << ' ' << c.deleted;
    EXPECT_EQ(world.status().record.restarts, c.cause == "ProgramFailed" ? 1 : 0) << c.code;
  }
}

TEST(FaultTest, KeepsTheEndOfWhatIsLong) {
  JobWorld world(1);
  FailWorker(world, 0, std::string(1'000, 'x') + " the end");
  world.Settle();
  const std::string said = world.status().record.last_failure->message;
  EXPECT_EQ(said.size(), 512U);
  EXPECT_TRUE(said.starts_with("...x") && said.ends_with("x the end"));
}

TEST(FaultTest, AContainerThatCouldNotStartSaidNothing) {
  JobWorld world(1);
  FailWorker(world, 0, "exec: \"x\": not found", "StartError", 128);
  world.Settle();
  EXPECT_EQ(Message(world, "Failed"),
            "worker 0 on n0: container trainer could not be started: exec: \"x\": not found; "
            "failurePolicy.maxRestarts is 0");
  EXPECT_EQ(world.status().record.last_failure->message, "");
}

TEST(FaultTest, TheWorkerWhoseRankTheLauncherNamesIsBlamed) {
  JobWorld world = Mpi(4);
  FailWorker(world, 0, "MPI_ABORT was invoked on rank 7 in communicator MPI_COMM_WORLD");
  world.Settle();
  EXPECT_EQ(world.status().record.last_failure->worker, 3);
  EXPECT_EQ(world.status().record.last_failure->node, "n3");
  EXPECT_TRUE(Message(world, "Restarting")
                  .starts_with("worker 0 on n0: container trainer ended with exit code 1 (Error); "
                               "it names rank 7, which worker 3 on n3 ran; it said: MPI_ABORT"))
      << Message(world, "Restarting");
}

TEST(FaultTest, ALauncherThatNamesNoRankBlamesNoNode) {
  for (const char* words : {"", "out of memory", "MPI_ABORT was invoked on rank 8 in x"}) {
    JobWorld world = Mpi(4);
    for (int i = 0; i < 3; ++i) {
      FailWorker(world, 0, words);
      world.Settle();
      world.now += 600;
    }
    EXPECT_EQ(world.status().record.last_failure->worker, 0) << words;
    EXPECT_NE(Message(world, "Restarting")
                  .find("(Error); its termination message does not name the rank that failed"),
              std::string::npos)
        << Message(world, "Restarting");
    EXPECT_TRUE(world.status().record.excluded.empty()) << words;
  }
}

TEST(FaultTest, WhatIsWorkerZerosOwnIsItsNodes) {
  for (const auto& [reason, code] :
       {std::pair{"OOMKilled", 137}, {"Error", 126}, {"StartError", 128}}) {
    JobWorld world = Mpi(4);
    for (int i = 0; i < 2; ++i) {
      FailWorker(world, 0, "x", reason, code);
      world.Settle();
      world.now += 600;
    }
    EXPECT_EQ(world.status().record.excluded.size(), 1U) << reason << code;
    EXPECT_EQ(Message(world, "Restarting").find("rank"), std::string::npos);
  }
  JobWorld other = Mpi(4);  // sshd of another worker
  FailWorker(other, 2, "MPI_ABORT was invoked on rank 7 in x");
  other.Settle();
  EXPECT_EQ(other.status().record.last_failure->worker, 2);
  JobWorld sidecar = Mpi(4);
  FailWorker(sidecar, 0, "MPI_ABORT was invoked on rank 7 in x");
  sidecar.pods[0]->failure->container = "proxy";
  sidecar.Settle();
  EXPECT_EQ(sidecar.status().record.last_failure->worker, 0);
}

}  // namespace
}  // namespace weft::life
