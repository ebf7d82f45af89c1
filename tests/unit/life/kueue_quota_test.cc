// A TrainingJob in a queue of Kueue: what it asks Kueue for, when it starts, and how it gives its
// quota back.
#include "operator/life/kueue_quota.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/json_reader.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/kueue_quota_assignment.h"
#include "tests/support/job_world.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;
using testing::JobWorld;

constexpr std::uint32_t kWorkers = 3;

// A job in a queue, and Kueue as the test plays it: `workload` is the object in the API server.
class Queued {
 public:
  Queued() : world(kWorkers) {
    world.job.meta.labels.Set(api::kQueueNameLabel, "team-a");
    world.job.accelerator.per_worker = 8;
    world.job.raw = api::MakeRaw(
        Json::parse(R"({"spec": {"workers": {"template": {"spec": {}}}}, "status": {}})"));
    flavor.node_labels = {{"gpu", "h100"}};
    flavor.tolerations = {{"gpu", "Exists", "", ""}};
    world.on_queue = [this](const JobStep& step) { Do(step); };
    world.queue.emplace();
    world.queue->flavor = [this](const std::string& name) {
      return name == "h100" ? &flavor : nullptr;
    };
    world.queue->is_ours = [](const std::string& name) { return name == "placement"; };
  }

  void Settle() {
    UpdateView();
    ASSERT_TRUE(world.Settle().has_value()) << "no rest";
  }
  void Condition(const std::string& type, const std::string& status, const std::string& reason,
                 const std::string& message = "") {
    Json& all = workload["status"]["conditions"];
    if (!all.is_array()) all = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]["type"] == type) all.erase(i--);
    }
    all.push_back({{"type", type},
                   {"status", status},
                   {"reason", reason},
                   {"message", message},
                   {"lastTransitionTime", FormatTime(world.now)}});
  }
  void Reserve(std::uint32_t count = kWorkers) {
    workload["status"]["admission"] = Json::parse(R"({"clusterQueue": "all", "podSetAssignments": [
        {"name": "workers", "flavors": {"nvidia.com/gpu": "h100"}}]})");
    workload["status"]["admission"]["podSetAssignments"][0]["count"] = count;
    Condition("QuotaReserved", "True", "QuotaReserved");
    Condition("Evicted", "False", "QuotaReserved");
  }
  void Admit(std::uint32_t count = kWorkers) {
    Reserve(count);
    Condition("Admitted", "True", "Admitted");
    Settle();
  }
  void Evict(const std::string& reason) {
    Condition("Evicted", "True", reason, "evicted to make room");
    Settle();
  }
  Json Of(const std::string& type) const {
    const Json status = workload.value("status", Json::object());
    for (const Json& one : status.value("conditions", Json::array())) {
      if (one["type"] == type) return one;
    }
    return Json();
  }
  std::string Why() const {
    const JobStatus status = world.status();
    const auto* placed = FindCondition(status, "Placed");
    return placed == nullptr ? "" : placed->reason + ": " + placed->message;
  }
  void UpdateView() {
    world.queue->workloads.clear();
    if (workload.is_null()) return;
    seen_ = *api::DecodeWorkload(workload, "test");
    world.queue->workloads = {&seen_};
  }
  bool Quota() const { return workload.value("status", Json::object()).contains("admission"); }

  JobWorld world;
  api::ResourceFlavor flavor;
  Json workload;  // null: there is none
  int created = 0, dropped = 0;

 private:
  void Do(const JobStep& step) {
    if (std::holds_alternative<CreateWorkload>(step)) {
      ++created;
      workload = Json::parse(R"({"metadata": {"namespace": "team-a", "uid": "w1", "finalizers":
          ["kueue.x-k8s.io/resource-in-use"]}, "spec": {"queueName": "team-a", "podSets": [
          {"name": "workers", "template": {"spec": {"containers": [{"name": "t", "resources":
              {"limits": {"nvidia.com/gpu": "8"}}}]}}}]}})");
      workload["metadata"]["name"] = WorkloadName(world.job.meta);
      workload["spec"]["podSets"][0]["count"] = world.job.replicas;
      workload["spec"]["priorityClassRef"]["name"] =
          world.job.meta.labels.At(api::kQueuePriorityLabel).value_or("");
    } else if (const auto* write = std::get_if<WriteWorkload>(&step)) {
      workload.merge_patch(*write->patch);
    } else if (const auto* drop = std::get_if<DropWorkloads>(&step)) {
      EXPECT_EQ(drop->workloads.size(), 1U);
      EXPECT_TRUE(world.pods.empty()) << "quota is given back while pods live";
      ++dropped;
      workload = nullptr;
    } else if (const auto* keep = std::get_if<WriteQueue>(&step)) {
      Json raw = *world.job.raw;
      raw["status"].erase("queue");
      if (keep->queue) raw["status"]["queue"] = *keep->queue;
      world.job.raw = api::MakeRaw(raw);
    }
    UpdateView();
  }

  api::Workload seen_;
};

TEST(QueueTest, NothingStartsBeforeItsWorkloadIsAdmitted) {
  Queued job;
  job.Settle();
  EXPECT_EQ(job.created, 1);
  EXPECT_EQ(job.Why(), "QuotaPending: queue team-a: waits for quota");
  job.Condition("QuotaReserved", "False", "Inadmissible", "LocalQueue team-a doesn't exist");
  job.Settle();
  EXPECT_EQ(job.Why(), "QuotaPending: queue team-a: LocalQueue team-a doesn't exist");
  job.Reserve();
  job.workload["status"]["admissionChecks"] =
      Json::parse(R"([{"name": "capacity", "state": "Pending", "message": "one node to come"}])");
  job.Settle();
  EXPECT_EQ(job.Why(),
            "AdmissionPending: queue team-a: ClusterQueue all has reserved quota; waits for the "
            "AdmissionChecks capacity (Pending: one node to come)");
  EXPECT_TRUE(job.world.placements.empty());
  job.Admit();
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
  EXPECT_EQ(job.Of("PodsReady")["reason"], "Started");
  EXPECT_EQ(job.created, 1);
}

TEST(QueueTest, RecordsPodSetUpdatesOfTheAdmission) {
  Queued job;
  job.Settle();
  job.workload["status"]["admissionChecks"] = Json::parse(R"([
      {"name": "capacity", "state": "Ready", "podSetUpdates": [{"name": "workers",
       "annotations": {"a": "1"}, "nodeSelector": {"pool": "p"}}]}])");
  job.Admit();
  const api::Raw queue = QueueOf(job.world.job);
  ASSERT_TRUE(queue);
  EXPECT_EQ(*queue, Json({{"name", "team-a"},
                          {"clusterQueue", "all"},
                          {"workload", WorkloadName(job.world.job.meta)},
                          {"nodeSelector", {{"gpu", "h100"}, {"pool", "p"}}},
                          {"tolerations", Json::array({{{"key", "gpu"}, {"operator", "Exists"}}})},
                          {"annotations", {{"a", "1"}}}}));
}

TEST(QueueTest, AnEvictedJobGivesItsQuotaBackWhenItsPodsAreGone) {
  Queued job;
  job.Settle();
  job.Admit();
  job.world.now += 100;
  // One pod's node is dead: it takes its grace period.
  job.world.nodes[job.world.pods.front()->node_name] = {true, job.world.now - 1};
  job.Evict("Preempted");
  EXPECT_EQ(job.world.pods.size(), 1U);
  EXPECT_TRUE(job.Quota());
  EXPECT_EQ(ReasonOf(job.world.status(), "Restarting"), "Evicted");
  job.world.nodes.clear();
  job.world.pods.clear();
  job.Settle();
  EXPECT_FALSE(job.Quota());
  EXPECT_EQ(job.Of("QuotaReserved")["status"], "False");
  EXPECT_EQ(job.Of("Admitted")["reason"], "NoReservation");
  EXPECT_EQ(job.Of("Requeued")["status"], "True");
  EXPECT_EQ(job.Of("PodsReady")["reason"], "WaitForStart");
  EXPECT_EQ(job.workload["status"]["accumulatedPastExecutionTimeSeconds"], 100);
  EXPECT_EQ(job.Why(), "QuotaPending: queue team-a: evicted to make room");
  EXPECT_EQ(job.world.job.record.restarts, 0);
  EXPECT_EQ(job.world.job.record.retry.times, 0);
  EXPECT_EQ(QueueOf(job.world.job), nullptr);

  job.Admit();
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
  EXPECT_EQ(job.world.job.attempt, 2);
}

TEST(QueueTest, OnlySomeEvictionsAreQueuedAgainAtOnce) {
  for (const auto& [reason, requeued] : {std::pair{"Preempted", "True"},
                                         {"NodeFailures", "True"},
                                         {"PodsReadyTimeout", "False"},
                                         {"AdmissionCheck", "False"},
                                         {"Deactivated", "False"}}) {
    Queued job;
    job.Settle();
    job.Admit();
    job.Evict(reason);
    EXPECT_FALSE(job.Quota()) << reason;
    EXPECT_EQ(job.Of("Requeued")["status"], requeued) << reason;
    EXPECT_EQ(job.Of("Requeued")["reason"], reason);
  }
}

// Kueue 0.19 leaves a Workload that is active again out of its queues for ever if the condition has
// the eviction's own reason.
TEST(QueueTest, WhateverDeactivatedItLetsItBeActivatedAgain) {
  for (const char* cause : {"AdmissionCheck", "RequeuingLimitExceeded"}) {
    Queued job;
    job.Settle();
    job.Admit();
    job.Evict(std::string("DeactivatedDueTo") + cause);
    EXPECT_EQ(job.Of("Requeued")["status"], "False");
    EXPECT_EQ(job.Of("Requeued")["reason"], "Deactivated");
  }
}

TEST(QueueTest, AnEvictionBeforeAdmissionGivesQuotaBackToo) {
  Queued job;
  job.Settle();
  job.Reserve();
  job.Settle();
  job.Evict("AdmissionCheck");
  EXPECT_FALSE(job.Quota());
  EXPECT_TRUE(job.Of("Admitted").is_null());
  EXPECT_FALSE(job.workload["status"].contains("accumulatedPastExecutionTimeSeconds"));
}

// Others wait for the quota, whatever is wrong with the job.
TEST(QueueTest, AJobThatAdmissionRefusesGivesItsQuotaBack) {
  Queued job;
  job.Settle();
  job.world.quota = 1;  // the first pod is created, and the others are refused
  job.world.not_admitted = "exceeded quota: pods";
  job.Admit();
  ASSERT_TRUE(job.Quota());
  ASSERT_TRUE(job.world.RunFor(60, 1));
  EXPECT_FALSE(Is(job.world.status(), "Accepted"));
  job.Evict("Preempted");
  ASSERT_TRUE(job.world.RunFor(60, 1));
  EXPECT_TRUE(job.world.pods.empty());
  EXPECT_FALSE(job.Quota());
}

TEST(QueueTest, AJobWhoseSpecCannotBeReadGivesItsQuotaBack) {
  for (const bool runs : {false, true}) {
    for (const bool deleted : {false, true}) {
      Queued job;
      job.Settle();
      job.Reserve();
      if (runs) job.Admit();
      job.Settle();
      job.world.job.unreadable = "spec.workers: must be an object";
      if (deleted) {
        job.workload["metadata"]["deletionTimestamp"] = FormatTime(job.world.now);
        job.Settle();
      } else {
        job.Evict("Preempted");
      }
      ASSERT_TRUE(job.world.RunFor(60, 1)) << runs << deleted;
      EXPECT_TRUE(job.world.pods.empty()) << runs << deleted;
      EXPECT_EQ(job.workload.is_null(), deleted) << runs;
      EXPECT_TRUE(deleted || !job.Quota()) << runs;
    }
  }
}

TEST(QueueTest, ARestartKeepsItsQuotaAndTellsThatPodsAreNotReady) {
  Queued job;
  job.world.job.failure_policy.max_restarts = 1;
  job.Settle();
  job.Admit();
  for (auto& pod : job.world.pods) {
    pod->phase = api::PodPhase::kFailed;
    pod->ready = false;
    pod->failure = api::Pod::Failure{"c", "Error", 1, "", job.world.now};
  }
  job.Settle();
  EXPECT_TRUE(job.Quota());
  EXPECT_EQ(job.Of("PodsReady")["reason"], "WaitForRecovery");
  job.world.now += 60;
  job.Settle();
  EXPECT_EQ(job.world.job.attempt, 2);
  EXPECT_EQ(job.Of("PodsReady")["reason"], "Recovered");
  EXPECT_EQ(job.world.job.record.restarts, 1);
}

// Else it would say "admitted" for minutes and not why nothing happens.
TEST(QueueTest, AdmittedAgainWithinItsPauseItSaysWhenTheNextAttemptStarts) {
  Queued job;
  job.world.job.failure_policy.max_restarts = 9;
  job.Settle();
  job.Admit();
  for (int failures = 0; failures < 3; ++failures) {
    job.world.now += 600;
    job.Settle();
    for (auto& pod : job.world.pods) {
      pod->phase = api::PodPhase::kFailed;
      pod->ready = false;
      pod->failure = api::Pod::Failure{"c", "Error", 1, "", job.world.now};
    }
    job.Settle();
  }
  const std::string next = job.world.job.record.retry.not_before;
  ASSERT_GT(*ParseTime(next), job.world.now);
  job.Evict("Preempted");
  ASSERT_FALSE(job.Quota());
  job.Admit();
  const auto placed = [&] { return *FindCondition(job.world.status(), "Placed"); };
  EXPECT_EQ(job.Why(),
            "Admitted: queue team-a: admitted to ClusterQueue all; the next attempt starts at " +
                next + ", after 3 failures in a row");
  EXPECT_EQ(placed().status, "False");
  job.world.room = false;
  job.world.now = *ParseTime(next);
  job.Settle();
  EXPECT_EQ(placed().reason, "InsufficientCapacity");
  EXPECT_EQ(placed().last_transition_time, next) << "its pause is not time without nodes";
}

TEST(QueueTest, TheTimeOfAWriteThatWasRefusedInTheQueueIsNotTimeWithoutNodes) {
  Queued job;
  job.world.room = false;
  job.Settle();
  api::PutCondition(job.world.job.conditions, {"Placed", "Unknown", "NotWritten", "403 no", ""},
                    job.world.now);
  job.world.now += 3'600;
  job.Reserve();
  job.Condition("Admitted", "True", "Admitted");
  job.UpdateView();
  std::vector<std::string> told;  // before the planner is asked
  while (!job.world.Settle(1)) {
    const auto placed = *FindCondition(job.world.status(), "Placed");
    told.push_back(placed.status + " " + placed.reason);
    if (placed.reason == "Admitted") {
      EXPECT_EQ(placed.last_transition_time, FormatTime(job.world.now));
    }
  }
  const auto last = std::find(told.rbegin(), told.rend(), "Unknown Admitted");
  EXPECT_NE(last, told.rend()) << ::testing::PrintToString(told);
}

// Else Kueue counts the time to recover from then on, and evicts it as soon as it is admitted
// again.
TEST(QueueTest, WithoutQuotaItsWorkloadWaitsForNoRecovery) {
  for (const bool given_back : {true, false}) {
    Queued job;
    job.Settle();
    job.Admit();
    job.world.room = false;
    job.world.pods.clear();  // a restart, for which there are no nodes
    job.Settle();
    ASSERT_EQ(job.Of("PodsReady")["reason"], "WaitForRecovery");
    job.world.now += 3600;
    if (given_back) {
      job.Evict("PodsReadyTimeout");
    } else {  // an earlier version did not say so when it gave the quota back
      job.workload["status"].erase("admission");
      job.Condition("QuotaReserved", "False", "Pending");
      job.Condition("Admitted", "False", "NoReservation");
      job.Settle();
    }
    EXPECT_FALSE(job.Quota());
    EXPECT_EQ(job.Of("PodsReady")["reason"], "WaitForStart") << given_back;
    EXPECT_EQ(job.Of("PodsReady")["status"], "False");
  }
}

TEST(QueueTest, ItsEndIsToldWhenNoPodRuns) {
  for (const bool succeeds : {true, false}) {
    Queued job;
    job.Settle();
    job.Admit();
    for (auto& pod : job.world.pods)
      pod->phase = succeeds ? api::PodPhase::kSucceeded : api::PodPhase::kFailed;
    if (!succeeds) {
      job.world.pods.front()->failure = api::Pod::Failure{"c", "Error", 1, "", job.world.now};
    }
    job.Settle();
    EXPECT_EQ(job.Of("Finished")["reason"], succeeds ? "Succeeded" : "Failed");
    EXPECT_NE(job.Of("Finished")["message"], "");
    EXPECT_EQ(job.workload["metadata"]["finalizers"], Json::array());
    EXPECT_EQ(job.dropped, 0);
  }
}

TEST(QueueTest, ASuspendedOrDeletedJobHasNoWorkload) {
  for (const bool suspended : {true, false}) {
    for (const bool runs : {true, false}) {
      Queued job;
      job.Settle();
      if (runs) job.Admit();
      (suspended ? job.world.job.suspend : job.world.job.meta.deleting) = true;
      job.Settle();
      EXPECT_TRUE(job.workload.is_null());
      EXPECT_EQ(job.dropped, 1);
      if (!suspended) continue;
      job.world.job.suspend = false;
      job.Settle();
      EXPECT_EQ(job.created, 2);
      job.Admit();
      EXPECT_EQ(PhaseOf(job.world.status()), "Running");
    }
  }
}

TEST(QueueTest, FewerWorkersThanAskedForAreRefused) {
  Queued job;
  job.Settle();
  job.Admit(2);
  EXPECT_EQ(job.world.pods.size(), 0U);
  EXPECT_EQ(job.workload["spec"]["active"], false);
  const std::string said = job.Why();
  EXPECT_TRUE(said.starts_with("AssignmentRefused: queue team-a: Kueue admitted 2 of 3 workers"))
      << said;
  job.Evict("Deactivated");
  EXPECT_FALSE(job.Quota());
  EXPECT_EQ(job.Why(), said);
}

TEST(QueueTest, FlavorsThatCannotBeUsedAreRefused) {
  Queued topology;
  topology.flavor.topology_name = "racks";
  topology.Settle();
  topology.Admit();
  EXPECT_NE(topology.Why().find("ResourceFlavor h100 has topologyName"), std::string::npos);
  Queued conflict;
  conflict.world.job.pod.node_selector = {{"gpu", "a100"}};
  conflict.Settle();
  conflict.Admit();
  EXPECT_NE(conflict.Why().find("sets nodeSelector gpu to h100, which is a100 already"),
            std::string::npos);
  EXPECT_EQ(conflict.workload["spec"]["active"], false);
}

TEST(QueueTest, ADeactivatedJobStopsAndWaitsForItsActivation) {
  Queued job;
  job.Settle();
  job.Admit();
  job.workload["spec"]["active"] = false;
  job.Settle();
  EXPECT_TRUE(job.world.pods.empty());
  EXPECT_TRUE(job.Why().starts_with("Deactivated: queue team-a: Workload")) << job.Why();
  EXPECT_TRUE(job.Quota());  // until Kueue evicts it
  job.Evict("Deactivated");
  EXPECT_FALSE(job.Quota());
}

TEST(QueueTest, AWorkloadThatIsDeletedByAnotherIsMadeAnewWithoutPods) {
  Queued job;
  job.Settle();
  job.Admit();
  job.workload["metadata"]["deletionTimestamp"] = FormatTime(job.world.now);
  job.Settle();
  EXPECT_TRUE(job.world.pods.empty());
  EXPECT_EQ(job.created, 2);
  EXPECT_EQ(ReasonOf(job.world.status(), "Restarting"), "Evicted");
}

TEST(QueueTest, AnotherQueueCountsWhileItWaits) {
  Queued job;
  job.Settle();
  job.world.job.meta.labels.Set(api::kQueueNameLabel, "team-b");
  job.Settle();
  EXPECT_EQ(job.workload["spec"]["queueName"], "team-b");
  job.Admit();
  job.world.job.meta.labels.Set(api::kQueueNameLabel, "team-c");
  job.Settle();
  EXPECT_EQ(job.workload["spec"]["queueName"], "team-b");
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
}

TEST(QueueTest, WithoutItsLabelAWaitingJobStarts) {
  Queued job;
  job.Settle();
  job.world.job.meta.labels.Erase(api::kQueueNameLabel);
  job.Settle();
  EXPECT_TRUE(job.workload.is_null());
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
}

TEST(QueueTest, ARunningJobThatGetsTheLabelKeepsRunning) {
  Queued job;
  job.world.job.meta.labels.Erase(api::kQueueNameLabel);
  job.Settle();
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
  job.world.job.meta.labels.Set(api::kQueueNameLabel, "team-a");
  job.Settle();
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
  EXPECT_EQ(job.created, 0);
}

TEST(QueueTest, AnotherPriorityMakesTheWorkloadAnewWhileItWaits) {
  Queued job;
  job.Settle();
  job.world.job.meta.labels.Set(api::kQueuePriorityLabel, "high");
  job.Settle();
  EXPECT_EQ(job.dropped, 1);
}

TEST(QueueTest, UntilKueuesObjectsAreReadAJobWaitsAndARunningOneStays) {
  Queued waiting;
  waiting.world.queue->synced = false;
  waiting.Settle();
  EXPECT_EQ(waiting.created, 0);
  EXPECT_NE(waiting.Why().find("is Kueue installed?"), std::string::npos);
  Queued running;
  running.Settle();
  running.Admit();
  running.world.queue->synced = false;
  running.world.queue->workloads.clear();
  ASSERT_TRUE(running.world.Settle().has_value());
  EXPECT_EQ(PhaseOf(running.world.status()), "Running");
}

TEST(QueueTest, NodesAreChosenForTheCheckBeforeTheJobIsAdmitted) {
  Queued job;
  job.Settle();
  job.Reserve();
  job.workload["status"]["admissionChecks"] =
      Json::parse(R"([{"name": "placement", "state": "Pending", "message": ""}])");
  job.Settle();
  ASSERT_EQ(job.world.placements.size(), 1U);
  EXPECT_TRUE(job.world.pods.empty());
  EXPECT_TRUE(job.Why().starts_with("AdmissionPending: queue team-a: ClusterQueue all"))
      << job.Why();
  EXPECT_EQ(job.world.job.attempt, 0);

  job.Evict("AdmissionCheck");  // the reservation is lost, and with it the nodes
  EXPECT_TRUE(job.world.placements.empty());
  EXPECT_FALSE(job.Quota());

  job.Reserve();
  job.workload["status"]["admissionChecks"][0]["state"] = "Ready";
  job.Admit();
  EXPECT_EQ(PhaseOf(job.world.status()), "Running");
  EXPECT_EQ(job.world.job.attempt, 1);
}

}  // namespace
}  // namespace weft::life
