#include "operator/life/next_step.h"
#include "operator/life/job_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "operator/api/conditions.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/accept.h"
#include "operator/life/ending.h"
#include "operator/life/exclusion.h"
#include "operator/life/job_step.h"

namespace weft::life {
namespace {

constexpr UnixSeconds kStart = 1'800'000'000;
constexpr std::uint32_t kWorkers = 3;

// A cluster of one job: carries out steps as an API server, a scheduler and kubelets would.
class World {
 public:
  World() {
    job_.meta.key = {"team-a", "llama"};
    job_.meta.uid = "u1";
    job_.meta.generation = 1;
    job_.replicas = kWorkers;
    job_.framework.type = api::FrameworkType::kTorch;
  }

  api::TrainingJob& job() { return job_; }
  std::vector<api::Pod>& pods() { return pods_; }
  UnixSeconds now = kStart;
  bool scheduler_binds = true;
  bool room = true;      // the planner finds nodes
  bool admitted = true;  // worker 0, on trial
  bool service_name_is_free = true;
  std::map<std::string, NodeState> nodes;  // those that are not well
  std::optional<api::PodGroup> group;      // of the attempt
  std::vector<std::string> trace;          // what was done, in words

  // Steps until nothing is left to do, at most so many; what the last one waits for.
  Wait Run(int most = 60) {
    if (const auto wait = Step(most)) return *wait;
    ADD_FAILURE() << "no rest after " << most << " steps; the last: " << trace.back();
    return {};
  }
  // So many, or fewer where the last one waits.
  std::optional<Wait> Step(int steps) {
    for (int i = 0; i < steps; ++i) {
      const life::JobStep step = NextStep(View(), options);
      if (const auto* wait = std::get_if<Wait>(&step)) return *wait;
      std::visit([this](const auto& one) { Do(one); }, step);
    }
    return std::nullopt;
  }

  JobStatus status() const { return StatusOf(job_); }
  std::string Phase() const { return PhaseOf(status()); }
  void Kubelet(api::PodPhase phase, bool ready) {
    for (api::Pod& pod : pods_) {
      if (pod.node_name.empty()) continue;
      pod.phase = phase;
      pod.ready = ready;
    }
  }
  LifeOptions options;

 private:
  JobView View() {
    JobView view;
    view.job = &job_;
    for (const api::Placement& placement : placements_) view.placements.push_back(&placement);
    for (const api::Pod& pod : pods_) view.pods.push_back(&pod);
    view.service = service_;
    view.node_state = [this](const std::string& name) {
      const auto found = nodes.find(name);
      return found == nodes.end() ? NodeState{} : found->second;
    };
    if (refused_ && !room) view.refusal = Refusal{"InsufficientCapacity", "24 short"};
    if (group) view.group = {true, &*group};
    view.now = now;
    view.tried = tried_;
    if (valid_of_ == job_.meta.generation) view.valid = "valid";
    return view;
  }

  void Do(const AddFinalizer&) { job_.meta.finalizers = {kFinalizer}; }
  void Do(const RemoveFinalizer&) {
    trace.push_back("let go");
    job_.meta.finalizers.clear();
  }
  void Do(const DryRun&) {
    tried_ = now;
    valid_of_ = admitted ? job_.meta.generation : 0;
    if (admitted) return;
    const JobStatus next = AfterTrialRefused(View(), "exceeded quota");
    if (next != status()) Write(next);
  }
  void Do(const RequestPlacement&) {
    refused_ = !room;
    if (room) Commit(job_.attempt + 1);
  }
  void Commit(std::int64_t attempt) {
    trace.push_back("place " + std::to_string(attempt));
    api::Placement placement;
    placement.meta.key = {"team-a", "llama-" + std::to_string(attempt)};
    placement.meta.labels.Set(cluster::kAttemptLabel, std::to_string(attempt));
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      placement.nodes.push_back("n" + std::to_string(attempt) + std::to_string(w));
    }
    placements_.push_back(placement);
  }
  void Do(const DeleteService&) {
    trace.push_back("delete service");
    service_ = false;
  }
  void Do(const CreateService&) {
    trace.push_back("create service");
    service_ = service_name_is_free;
    if (!service_) now += 10;  // the pause of a refused write
  }
  void Do(const CreatePods& step) {
    trace.push_back("create " + std::to_string(step.workers.size()));
    for (const WorkerIndex worker : step.workers) {
      api::Pod pod;
      pod.meta.labels.Set(cluster::kAttemptLabel, std::to_string(step.attempt));
      pod.meta.labels.Set(cluster::kWorkerIndexLabel, std::to_string(worker.Raw()));
      pod.meta.creation_timestamp = FormatTime(now);
      pod.phase = api::PodPhase::kPending;
      const std::string& node = placements_.back().nodes[worker.Raw()];
      if (scheduler_binds || worker != WorkerIndex{1}) pod.node_name = node;
      if (pod.node_name.empty()) pod.unscheduled = "0/1 nodes are available";
      pods_.push_back(pod);
    }
  }
  void Do(const DeletePods& step) {
    trace.push_back("delete " + std::to_string(step.pods.size()));
    const std::vector<const api::Pod*> doomed = step.pods;
    std::vector<api::Pod> left;
    for (api::Pod& pod : pods_) {
      if (std::find(doomed.begin(), doomed.end(), &pod) == doomed.end()) {
        left.push_back(pod);
      } else if (nodes.contains(pod.node_name)) {  // no kubelet to confirm it
        pod.meta.deleting = true;
        pod.meta.deletion_timestamp = FormatTime(now + 30);
        left.push_back(pod);
      }
    }
    pods_ = left;
  }
  void Do(const DeletePlacements&) {
    trace.push_back("unplace");
    placements_.clear();
  }
  void Do(const DeleteFiles&) {
    trace.push_back("delete files");
    api::PutCondition(placements_.back().conditions, {api::kFilesDeleted, "True", "", "", ""}, now);
  }
  void Do(const DeleteJob&) {
    trace.push_back("delete job");
    job_.meta.deleting = true;
  }
  void Do(const WriteStatus& step) { Write(step.status); }
  void Do(const CreateWorkload&) { ADD_FAILURE() << "no queue here"; }
  void Do(const WriteWorkload&) { ADD_FAILURE() << "no queue here"; }
  void Do(const DropWorkloads&) { ADD_FAILURE() << "no queue here"; }
  void Do(const WriteQueue&) { ADD_FAILURE() << "no queue here"; }
  void Do(const Wait&) {}

  void Write(const JobStatus& next) {
    const JobStatus previous = status();
    EXPECT_FALSE(next == previous) << "a write that changes nothing";
    for (const api::Condition& condition : next.conditions) {
      const api::Condition* before = FindCondition(previous, condition.type);
      const std::string was = before == nullptr ? "" : before->status;
      if (was != condition.status && condition.status == "True") {
        trace.push_back(condition.type + ": " + condition.reason);
      }
    }
    job_.attempt = next.attempt;
    job_.placement_name = next.placement_name;
    job_.conditions = next.conditions;
    job_.record = next.record;
  }

  api::TrainingJob job_;
  std::vector<api::Placement> placements_;
  std::vector<api::Pod> pods_;
  bool service_ = false;
  bool refused_ = false;
  UnixSeconds tried_ = 0;
  std::int64_t valid_of_ = 0;
};

using Trace = std::vector<std::string>;

// A job whose workers all run.
World Running() {
  World world;
  world.Run();
  world.Kubelet(api::PodPhase::kRunning, true);
  world.Run();
  world.trace.clear();
  return world;
}

TEST(NextStepTest, AJobIsPlacedStartedAndCompleted) {
  World world;
  EXPECT_EQ(world.Run().seconds, 900);  // for the workers to become ready
  EXPECT_EQ(world.Phase(), "Placed");
  world.Kubelet(api::PodPhase::kRunning, true);
  world.Run();
  EXPECT_EQ(world.Phase(), "Running");
  EXPECT_EQ(world.status().record.summary.workers, "3/3");
  world.Kubelet(api::PodPhase::kSucceeded, false);
  world.Run();
  EXPECT_EQ(world.Phase(), "Complete");
  EXPECT_EQ(world.trace,
            (Trace{"place 1", "Accepted: Valid", "Placed: Placed", "create 3", "create service",
                   "PodsReady: AllReady", "Complete: Succeeded", "delete service"}));
}

TEST(NextStepTest, RetriesAJobThatAdmissionRefusesWithBackoff) {
  World world;
  world.admitted = false;
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 8; ++i) {
    pauses.push_back(world.Run().seconds.value_or(-1));
    world.now += pauses.back();
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{2, 2, 4, 8, 16, 32, 60, 60}));
  EXPECT_EQ(world.Phase(), "Invalid");
  world.admitted = true;
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"place 1", "Accepted: Valid", "Placed: Placed", "create 3", "create service"}));
}

TEST(NextStepTest, AFullClusterIsSaidAndAskedAgain) {
  World world;
  world.room = false;
  world.Run();
  EXPECT_EQ(world.Phase(), "Pending");
  EXPECT_EQ(ReasonOf(world.status(), "Placed"), "InsufficientCapacity");
  world.room = true;
  world.Run();
  EXPECT_EQ(world.Phase(), "Placed");
}

TEST(NextStepTest, AGangThatIsHalfBoundAtTheDeadlineIsUndoneAndPlacedElsewhere) {
  World world;
  world.scheduler_binds = false;
  EXPECT_EQ(world.Run().seconds, 2);  // looks again
  world.now += 60;
  world.scheduler_binds = true;
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"place 1", "Accepted: Valid", "Placed: Placed", "create 3", "create service",
                   "Restarting: BindRefused", "delete service", "delete 3", "unplace", "place 2",
                   "Placed: Placed", "create 3", "create service"}));
  EXPECT_EQ(world.status().record.restarts, 0);
  ASSERT_EQ(world.status().record.excluded.size(), 1U);
  EXPECT_EQ(world.status().record.excluded[0].node, "n11");
  EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now + 299), Trace{"n11"});
  EXPECT_EQ(ExcludedAt(world.status().record.excluded, world.now + 300), Trace{});
}

TEST(NextStepTest, AGangWhoseNodeIsDeletedBeforeItIsBoundIsPlacedElsewhereAtOnce) {
  World world;
  world.scheduler_binds = false;
  EXPECT_EQ(world.Run().seconds, 2);  // looks again
  world.nodes["n11"].exists = false;
  world.scheduler_binds = true;
  world.Run();
  EXPECT_EQ(world.now, kStart);
  EXPECT_EQ(world.trace,
            (Trace{"place 1", "Accepted: Valid", "Placed: Placed", "create 3", "create service",
                   "Restarting: BindRefused", "delete service", "delete 3", "unplace", "place 2",
                   "Placed: Placed", "create 3", "create service"}));
}

TEST(NextStepTest, AServiceOfSomebodyElseEndsTheAttemptAtTheDeadline) {
  World world;
  world.service_name_is_free = false;
  while (world.status().conditions.empty() || !Is(world.status(), "Restarting")) world.Step(1);
  EXPECT_EQ(ReasonOf(world.status(), "Restarting"), "CreateRefused");
  EXPECT_EQ(world.now - kStart, 70);  // the bind deadline, and the pause that passed it
}

TEST(NextStepTest, AFailedContainerFailsAJobWithoutRestarts) {
  World world = Running();
  world.pods()[1].phase = api::PodPhase::kFailed;
  world.pods()[1].failure = api::Pod::Failure{"trainer", "OOMKilled", 137, ""};
  world.Run();
  EXPECT_EQ(world.Phase(), "Failed");
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "OOMKilled");
  EXPECT_EQ(world.status().record.last_failure->exit_code, 137);
  EXPECT_EQ(world.trace, (Trace{"Failed: OOMKilled", "delete 2", "delete service"}));
}

TEST(NextStepTest, AnMPIWorkerWithoutSshdIsNamed) {
  World world = Running();
  world.job().framework.type = api::FrameworkType::kMPI;
  world.pods()[1].phase = api::PodPhase::kFailed;
  world.pods()[1].failure = api::Pod::Failure{"trainer", "Error", 127, ""};
  const std::string node = world.pods()[1].node_name;
  world.Run();
  EXPECT_EQ(FindCondition(world.status(), "Failed")->message,
            "worker 1 on " + node +
                ": container trainer ended with exit code 127 (Error); the image may lack sshd, "
                "which mpirun on worker 0 needs; failurePolicy.maxRestarts is 0");
}

TEST(NextStepTest, AFailedContainerRestartsTheWholeGangWhileRestartsAreLeft) {
  World world = Running();
  world.job().failure_policy.max_restarts = 1;
  world.pods()[1].phase = api::PodPhase::kFailed;
  EXPECT_EQ(world.Run().seconds, 10);  // before the next attempt
  world.now += 10;
  world.Run();
  EXPECT_EQ(world.status().record.restarts, 1);
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.trace, (Trace{"Restarting: PodFailed", "delete service", "delete 3", "unplace",
                                "place 2", "Placed: Placed", "create 3", "create service"}));
  world.pods()[0].phase = api::PodPhase::kFailed;
  EXPECT_EQ(world.Run().seconds, 75);  // for news of its nodes
  world.now += 75;
  world.Run();
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "RestartsExhausted");
}

TEST(NextStepTest, ALostNodeRestartsTheGangUncountedAndWithoutWaitingForItsPod) {
  World world = Running();
  world.nodes["n10"] = {true, world.now};
  EXPECT_EQ(world.Run().seconds, 60);
  world.now += 60;
  EXPECT_EQ(world.Run().seconds, 30);  // the grace period of the pod that nobody confirms
  world.now += 30;
  world.Run();
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.status().record.restarts, 0);
  EXPECT_EQ(world.pods().size(), 4U);  // the old pod stands until its node comes back
}

// Its node may be lost for hours; found by a day of tests/world that did not end.
TEST(NextStepTest, AWorkerThatHasSucceededIsNotLostWithItsNode) {
  World world = Running();
  for (api::Pod& pod : world.pods()) {
    if (pod.node_name == "n10") pod.phase = api::PodPhase::kSucceeded;
  }
  world.nodes["n10"] = {true, world.now - 100};
  EXPECT_GT(world.Run().seconds.value_or(1), 0);
  EXPECT_EQ(world.status().attempt, 1);
}

TEST(NextStepTest, AnEvictedWorkerRestartsTheGang) {
  World world = Running();
  world.pods()[2].meta.deleting = true;
  world.pods()[2].disrupted = true;
  world.Run();
  EXPECT_EQ(world.trace.front(), "Restarting: Disrupted");
}

TEST(NextStepTest, APodThatSomebodyDeletedIsNotCreatedTwiceInOneAttempt) {
  World world = Running();
  world.pods().pop_back();
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Restarting: PodDeleted", "delete service", "delete 2", "unplace",
                                "place 2", "Placed: Placed", "create 3", "create service"}));
}

// Its condition PodGroupInitiallyScheduled stays True whatever becomes of the pods.
TEST(NextStepTest, APodGroupThatWasBoundOnceHidesNoLoss) {
  const std::vector<std::function<void(World&)>> losses = {
      [](World& world) { world.pods().pop_back(); },
      [](World& world) { world.pods()[1].phase = api::PodPhase::kFailed; },
      [](World& world) {
        world.nodes["n10"] = {true, world.now - 100};
      },
  };
  for (const auto& lose : losses) {
    World plain = Running(), grouped = Running();
    grouped.group.emplace().decided = true;
    grouped.group->min_count = kWorkers;
    for (api::Pod& pod : grouped.pods()) pod.pod_group = "llama-1-weft-abcd";
    for (World* world : {&plain, &grouped}) {
      world->job().failure_policy.max_restarts = 1;
      lose(*world);
      world->Run();
      EXPECT_FALSE(Is(world->status(), "PodsReady"));
      ASSERT_FALSE(world->trace.empty());
      EXPECT_TRUE(world->trace.front().starts_with("Restarting: ")) << world->trace.front();
    }
    EXPECT_EQ(grouped.trace, plain.trace);
  }
}

TEST(NextStepTest, SuspendingTakesPodsAndNodesAwayAndResumingPlacesAnew) {
  World world = Running();
  world.job().suspend = true;
  world.Run();
  EXPECT_EQ(world.Phase(), "Suspended");
  EXPECT_EQ(world.trace, (Trace{"delete 3", "unplace", "Suspended: Suspended"}));
  world.now += 500;
  world.job().suspend = false;
  world.Run();
  EXPECT_EQ(world.status().attempt, 2);
  EXPECT_EQ(world.status().record.suspended_seconds, 500);
}

// What comes before Suspended=True may fail for minutes.
TEST(NextStepTest, AJobIsNotReadyFromTheMomentThatItIsBeingSuspended) {
  World world = Running();
  world.job().suspend = true;
  world.Step(1);
  EXPECT_EQ(ReasonOf(world.status(), "Suspended"), kSuspending);
  EXPECT_FALSE(Is(world.status(), "PodsReady"));
  EXPECT_EQ(world.Phase(), "Placed");
}

TEST(NextStepTest, ASuspendedJobIsLookedAtBeforeItIsResumed) {
  World world;
  world.job().suspend = true;
  world.job().meta.generation = 3;
  world.Run();
  EXPECT_EQ(world.Phase(), "Suspended");
  EXPECT_EQ(ReasonOf(world.status(), "Accepted"), "Valid");
  EXPECT_EQ(world.status().record.observed_generation, 3);
}

TEST(NextStepTest, ResumedBeforeItsPodsAreGoneItStartsANewAttempt) {
  for (const int steps : {1, 2, 3}) {
    World world = Running();
    world.job().failure_policy.infrastructure = "Fail";
    world.job().suspend = true;
    world.Step(steps);
    world.job().suspend = false;
    world.Run();
    EXPECT_EQ(world.trace, (Trace{"delete 3", "unplace", "Suspended: Suspended", "place 2",
                                  "Placed: Placed", "create 3"}))
        << "resumed after " << steps << " steps";
  }
}

TEST(NextStepTest, TheDeadlineLeavesSuspendedTimeOut) {
  World world = Running();
  world.job().active_deadline_seconds = 1000;
  world.job().record.suspended_seconds = 100;
  EXPECT_EQ(world.Run().seconds, 1100);
  world.now += 1100;
  world.Run();
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "DeadlineExceeded");
}

TEST(NextStepTest, WorkersThatAreNotReadyInTimeAreAFailure) {
  World world;
  world.Run();
  world.Kubelet(api::PodPhase::kRunning, false);
  EXPECT_EQ(world.Run().seconds, 900);
  world.now += 900;
  world.Run();
  EXPECT_EQ(ReasonOf(world.status(), "Failed"), "StartupTimeout");
}

TEST(NextStepTest, ADeletedJobLosesItsPodsAndPlacementBeforeItsFinalizer) {
  World world = Running();
  world.job().meta.deleting = true;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"delete 3", "unplace", "let go"}));
}

TEST(NextStepTest, AFinishedJobGoesAfterItsTimeToLive) {
  World world = Running();
  world.job().ttl_seconds_after_finished = 10;
  world.Kubelet(api::PodPhase::kSucceeded, false);
  EXPECT_EQ(world.Run().seconds, 10);
  world.now += 10;
  world.trace.clear();
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"delete job", "delete 3", "unplace", "let go"}));
}

TEST(NextStepTest, AnMPIJobIsCompleteWhenItsLauncherIs) {
  World world = Running();
  world.job().framework.type = api::FrameworkType::kMPI;
  world.pods()[0].phase = api::PodPhase::kSucceeded;
  world.Run();
  EXPECT_EQ(world.Phase(), "Complete");
  EXPECT_EQ(world.trace,
            (Trace{"Complete: Succeeded", "delete 2", "delete service", "delete files"}));
}

TEST(NextStepTest, AnOperatorThatDiedAfterTheCommitGoesOnWithIt) {
  World world;
  // Everything but the last write: the Placement has nodes, the job's status does not know.
  world.Run();
  World resumed = world;
  resumed.job().attempt = 0;
  resumed.job().placement_name.clear();
  std::erase_if(resumed.job().conditions, [](const auto& c) { return c.type != "Accepted"; });
  resumed.trace.clear();
  resumed.Run();
  EXPECT_EQ(resumed.status().attempt, 1);
  EXPECT_EQ(resumed.trace, Trace{"Placed: Placed"});
}

TEST(NextStepTest, AJobThatCannotBeReadIsToldOnceAndRunsOn) {
  World world = Running();
  const JobStatus before = world.status();
  world.job().unreadable = "spec.model.type: is required";
  world.job().meta.generation = 2;
  world.pods()[1].phase = api::PodPhase::kFailed;
  EXPECT_EQ(world.Run(2).seconds, std::nullopt);
  JobStatus after = world.status();
  EXPECT_EQ(FindCondition(after, "Accepted")->message, "spec.model.type: is required");
  EXPECT_EQ(ReasonOf(after, "Accepted"), "Invalid");
  EXPECT_EQ(after.record.observed_generation, 2);
  // Nothing else of the status is touched, and nothing is done.
  JobStatus rest = before;
  rest.record.observed_generation = 2;
  for (JobStatus* one : {&after, &rest}) {
    std::erase_if(one->conditions, [](const auto& c) { return c.type == "Accepted"; });
  }
  EXPECT_TRUE(after == rest);
  EXPECT_EQ(world.trace, Trace{});
  // Put right, it is followed again.
  world.job().unreadable.clear();
  world.job().meta.generation = 3;
  world.Run();
  world.now += 75;  // for news of its nodes
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"Accepted: Valid", "Failed: PodFailed", "delete 2", "delete service"}));
}

TEST(NextStepTest, AFinishedJobThatCannotBeReadNeverRunsAgain) {
  World world = Running();
  world.Kubelet(api::PodPhase::kSucceeded, false);
  world.Run();
  world.trace.clear();
  world.job().unreadable = "spec: is required";
  world.Run();
  world.pods().clear();
  world.job().unreadable.clear();
  world.Run();
  EXPECT_EQ(world.Phase(), "Complete");
  EXPECT_EQ(world.trace, Trace{});
}

TEST(NextStepTest, AJobThatCannotBeReadIsDeletedLikeAnyOther) {
  World world = Running();
  world.job().unreadable = "spec: is required";
  world.job().meta.deleting = true;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"delete 3", "unplace", "let go"}));
}

}  // namespace
}  // namespace weft::life
