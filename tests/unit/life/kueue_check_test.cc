#include "operator/life/kueue_check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/conditions.h"
#include "operator/base/random.h"
#include "operator/base/timestamp.h"
#include "operator/plan/solver_crash.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

constexpr UnixSeconds kNow = 1'800'000'000;
constexpr const char* kShort = "InsufficientCapacity";

// A Workload of Kueue of one or two pod sets, and all that its check reads.
class QueuedWorkload {
 public:
  QueuedWorkload() {
    workload = Json::parse(R"({
        "metadata": {"name": "job-llama-1a2b3", "namespace": "ns", "uid": "w1",
                     "resourceVersion": "5"},
        "spec": {"priority": 7, "podSets": [
            {"name": "main", "count": 4,
             "topologyRequest": {"podIndexLabel": "index", "subGroupIndexLabel": "group",
                                 "subGroupCount": 2},
             "template": {"metadata": {"labels": {"app": "llama"}}, "spec": {
                 "nodeSelector": {"zone": "a"}, "priorityClassName": "batch",
                 "containers": [{"name": "t", "resources": {
                     "requests": {"cpu": "32"}, "limits": {"nvidia.com/gpu": "8"}}}]}}}]},
        "status": {
            "admission": {"clusterQueue": "q", "podSetAssignments": [
                {"name": "main", "count": 4, "flavors": {"nvidia.com/gpu": "h100", "cpu": "h100"}}]},
            "admissionChecks": [{"name": "other", "state": "Ready", "message": "",
                                 "lastTransitionTime": "2027-01-15T07:00:00Z"},
                                {"name": "place", "state": "Pending", "message": "",
                                 "lastTransitionTime": "2027-01-15T07:00:00Z"}]}})");
    Set("QuotaReserved", "True");
    check.meta.key.name = "place";
    check.controller = api::kCheckController;
    check.parameters = {"weft.dev", "Fabric", "gpus"};
    flavor.node_labels = {{"gpu", "h100"}};
    flavor.tolerations = {{"gpu", "Exists", "", ""}};
  }

  void Set(const std::string& type, const std::string& status) {
    Json& conditions = workload["status"]["conditions"];
    if (conditions.is_null()) conditions = Json::array();
    for (Json& one : conditions) {
      if (one["type"] == type) one = nullptr;
    }
    conditions.erase(std::remove(conditions.begin(), conditions.end(), nullptr), conditions.end());
    conditions.push_back(
        {{"type", type}, {"status", status}, {"lastTransitionTime", FormatTime(kNow)}});
  }
  Json& Mine() { return workload["status"]["admissionChecks"][1]; }
  Json& Other() { return workload["status"]["admissionChecks"][0]; }

  CheckStep Next() {
    seen = *api::DecodeWorkload(workload, "test");
    CheckView view;
    view.workload = &seen;
    view.checks = {&check};
    if (second) view.checks.push_back(&*second);
    for (const api::Placement& one : placements) view.placements.push_back(&one);
    view.in_use = [this](const api::Placement& one) { return in_use.contains(one.meta.key.name); };
    view.flavor = [this](const std::string& name) { return name == "h100" ? &flavor : nullptr; };
    view.refusal = [this](const std::string& reservation) {
      EXPECT_EQ(reservation, "w1@" + FormatTime(kNow));
      return refusal;
    };
    view.fabrics = [this] { return fabrics; };
    view.job = job;
    view.now = now;
    view.waits_since = waits_since;
    return NextCheckStep(view, options);
  }

  // The planner gives nodes to what is asked for.
  void Plan(const RequestNodes& asked) {
    for (api::Placement placement : asked.placements) {
      placement.nodes.assign(placement.workers, "n");
      placement.conditions = {{"Placed", "True", "Placed", "1 leaf", ""}};
      placements.push_back(placement);
    }
  }
  void Write(const AnswerCheck& answer) { workload.merge_patch(Json(PatchOf(seen, answer, now))); }
  // Until Kueue admits it.
  void Admit() {
    Plan(std::get<RequestNodes>(Next()));
    Write(std::get<AnswerCheck>(Next()));
    Set("Admitted", "True");
  }

  Json workload;
  api::AdmissionCheck check;
  std::optional<api::AdmissionCheck> second;
  api::ResourceFlavor flavor;
  std::vector<api::Placement> placements;
  std::set<std::string> in_use;
  std::optional<Refusal> refusal;
  std::vector<const fabric::FabricSpec*> fabrics;
  QueuedJob job;
  UnixSeconds now = kNow, waits_since = kNow;
  CheckOptions options;
  api::Workload seen;
};

bool Rests(const CheckStep& step) { return std::holds_alternative<Wait>(step); }

TEST(CheckTest, WhateverItsChecksSayAnAnswerReplacesItsOwnAndNoOther) {
  const std::vector<api::CheckState> states = {api::CheckState::kPending, api::CheckState::kReady,
                                               api::CheckState::kRetry};
  SplitMix64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    QueuedWorkload queue;
    for (Json* entry : {&queue.Mine(), &queue.Other()}) {
      (*entry)["newer"] = 7;
      if (random.Below(2) == 0) (*entry)["requeueAfterSeconds"] = 7;
      if (random.Below(2) == 0) (*entry)["podSetUpdates"] = Json::array({{{"name", "old"}}});
    }
    queue.seen = *api::DecodeWorkload(queue.workload, "test");
    AnswerCheck answer{{"place"}, states[random.Below(states.size())], "why", {}};
    Json updates;
    if (random.Below(2) == 0) {
      answer.placements = {{"main", "p"}};
      updates = Json::array({{{"name", "main"}, {"labels", {{"weft.dev/placement", "p"}}}}});
    }
    Json expected = queue.workload;
    Json& mine = expected["status"]["admissionChecks"][1];
    if (answer.state != api::CheckState::kPending) mine["lastTransitionTime"] = FormatTime(kNow);
    mine["state"] = api::CheckStateName(answer.state);
    mine["message"] = "why";
    for (const char* old : {"requeueAfterSeconds", "podSetUpdates"}) mine.erase(old);
    if (!updates.is_null()) mine["podSetUpdates"] = updates;
    queue.Write(answer);
    ASSERT_EQ(queue.workload, expected);
  }
}

TEST(CheckTest, AReservedWorkloadAsksForNodesOfItsFlavor) {
  QueuedWorkload queue;
  const auto asked = std::get<RequestNodes>(queue.Next());
  EXPECT_EQ(asked.reservation, "w1@2027-01-15T08:00:00Z");
  EXPECT_EQ(asked.seconds, 600);
  ASSERT_EQ(asked.placements.size(), 1U);
  const api::Placement& one = asked.placements[0];
  EXPECT_EQ(one.meta.key.name, CheckedPlacementName(queue.seen, "main"));
  EXPECT_EQ(one.workers, 4U);
  EXPECT_EQ(one.fabric_name, "gpus");
  EXPECT_EQ(one.accelerator.resource_name, "nvidia.com/gpu");
  EXPECT_EQ(one.accelerator.per_worker, 8U);
  EXPECT_EQ(one.meta.owners.front().uid, "w1");
  EXPECT_EQ(one.pod_selector->match_labels.at("weft.dev/placement"), one.meta.key.name);
  ASSERT_EQ(one.worker_index_labels.size(), 2U);
  EXPECT_EQ(one.worker_index_labels[0].key, "group");
  EXPECT_EQ(one.worker_index_labels[0].stride, 2);
  EXPECT_EQ(one.worker_index_labels[1].key, "index");
  EXPECT_EQ(one.proposal->priority, 7);
  EXPECT_EQ(one.proposal->priority_class_name, "batch");
  EXPECT_EQ(one.proposal->bundle, asked.reservation);
  EXPECT_EQ(one.proposal->pod.node_selector,
            (std::map<std::string, std::string>{{"gpu", "h100"}, {"zone", "a"}}));
  EXPECT_EQ(one.proposal->pod.tolerations, queue.flavor.tolerations);
  EXPECT_EQ(api::DecodePodRequests(one.meta),
            (fabric::Resources{{"cpu", 32'000}, {"nvidia.com/gpu", 8}}));
}

// A Workload that was deleted and made again is another one, and each pod set has its own count.
TEST(CheckTest, PodsHaveSucceededOfThePlacementsOwnPodSet) {
  QueuedWorkload queue;
  const api::Placement placement = std::get<RequestNodes>(queue.Next()).placements.at(0);
  api::Workload workload = queue.seen;
  EXPECT_EQ(SucceededPods(workload, placement.meta), 0U);
  workload.pod_sets[0].succeeded = 3;
  EXPECT_EQ(SucceededPods(workload, placement.meta), 3U);
  workload.pod_sets[0].name = "head";
  EXPECT_EQ(SucceededPods(workload, placement.meta), 0U);
  workload.pod_sets[0].name = "main";
  workload.meta.uid = "w2";
  EXPECT_EQ(SucceededPods(workload, placement.meta), 0U);
}

TEST(CheckTest, NodesMakeItReadyWithTheLabelOfEachPodSet) {
  QueuedWorkload queue;
  queue.workload["spec"]["podSets"].push_back(queue.workload["spec"]["podSets"][0]);
  queue.workload["spec"]["podSets"][1]["name"] = "head";
  queue.workload["spec"]["podSets"].push_back(
      {{"name", "launcher"}, {"template", {{"spec", Json::object()}}}});
  const auto asked = std::get<RequestNodes>(queue.Next());
  ASSERT_EQ(asked.placements.size(), 2U);
  queue.Plan(asked);
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kReady);
  EXPECT_EQ(answer.message, "main: 4 workers on 1 leaf; head: 4 workers on 1 leaf");
  queue.now += 5;
  queue.Write(answer);
  const std::string main = CheckedPlacementName(queue.seen, "main");
  const std::string head = CheckedPlacementName(queue.seen, "head");
  EXPECT_NE(main, head);
  EXPECT_EQ(queue.Mine()["podSetUpdates"],
            Json::parse(R"([{"name": "head", "labels": {"weft.dev/placement": ")" + head +
                        R"("}}, {"name": "main", "labels": {"weft.dev/placement": ")" + main +
                        R"("}}])"));
  EXPECT_EQ(queue.Mine()["lastTransitionTime"], "2027-01-15T08:00:05Z");
  EXPECT_EQ(queue.Other()["lastTransitionTime"], "2027-01-15T07:00:00Z");
  EXPECT_TRUE(Rests(queue.Next()));
}

TEST(CheckTest, WithoutAcceleratorsItIsReadyAtOnce) {
  QueuedWorkload queue;
  queue.workload["spec"]["podSets"][0]["template"]["spec"] = Json::object();
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kReady);
  EXPECT_TRUE(answer.placements.empty());
}

TEST(CheckTest, AResourceThatAFabricNamesIsAnAccelerator) {
  QueuedWorkload queued;
  queued.workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
      {"limits", {{"example.com/x1", "8"}}}};
  EXPECT_TRUE(std::holds_alternative<AnswerCheck>(queued.Next()));  // Ready at once
  fabric::FabricSpec spec;
  spec.accelerator_resources = {"example.com/x1"};
  queued.fabrics = {&spec};
  const CheckStep step = queued.Next();
  ASSERT_TRUE(std::holds_alternative<RequestNodes>(step));
  const api::Placement& asked = std::get<RequestNodes>(step).placements.front();
  EXPECT_EQ(asked.accelerator.resource_name, "example.com/x1");
  EXPECT_EQ(asked.accelerator.per_worker, 8U);
}

TEST(CheckTest, NothingIsDoneWithoutAReservation) {
  for (const auto& edit : std::vector<std::function<void(QueuedWorkload&)>>{
           [](QueuedWorkload& q) { q.Set("QuotaReserved", "False"); },
           [](QueuedWorkload& q) { q.Set("Evicted", "True"); },
           [](QueuedWorkload& q) { q.Set("Finished", "True"); },
           [](QueuedWorkload& q) { q.workload["spec"]["active"] = false; },
           [](QueuedWorkload& q) {
             q.workload["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z";
           },
           [](QueuedWorkload& q) { q.Mine()["state"] = "Retry"; },
           [](QueuedWorkload& q) { q.Mine()["state"] = "Rejected"; }}) {
    QueuedWorkload queue;
    edit(queue);
    EXPECT_TRUE(Rests(queue.Next()));
  }
}

TEST(CheckTest, NoRoomIsPendingThenRetry) {
  QueuedWorkload queue;
  queue.refusal = {kShort, "2 nodes are missing"};
  auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kPending);
  EXPECT_EQ(answer.message, "2 nodes are missing");
  queue.Write(answer);
  queue.now += 100;
  EXPECT_EQ(std::get<RequestNodes>(queue.Next()).seconds, 500);
  queue.now += 500;
  answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRetry);
  queue.Mine()["retryCount"] = 50;
  queue.Mine()["requeueAfterSeconds"] = 5;
  queue.seen = *api::DecodeWorkload(queue.workload, "test");
  queue.Write(answer);
  EXPECT_EQ(queue.Mine()["retryCount"], 50);
  EXPECT_FALSE(queue.Mine().contains("requeueAfterSeconds"));
}

TEST(CheckTest, ALongReservationIsGivenBackOnlyAfterThePlannerHasAnswered) {
  QueuedWorkload queue;
  queue.now += 9'999;  // no operator ran
  EXPECT_TRUE(std::holds_alternative<RequestNodes>(queue.Next()));
}

TEST(CheckTest, RejectsAWorkloadThatNeverFits) {
  QueuedWorkload queue;
  queue.refusal = {kShort, "the fabric has 2 nodes", false};
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRejected);
  EXPECT_EQ(answer.message, "the fabric has 2 nodes");
}

TEST(CheckTest, WhileAnotherCheckMayAddNodesItIsOnlyPending) {
  QueuedWorkload queue;
  queue.Other()["state"] = "Pending";
  queue.now += 700;
  for (const bool ever : {false, true}) {
    queue.refusal = {kShort, ever ? "full" : "too small", ever};
    EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kPending);
  }
  queue.Other()["state"] = "Ready";
  queue.waits_since = kNow + 200;
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kPending);
  queue.now = kNow + 800;
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kRetry);
}

TEST(CheckTest, AFlavorThatCannotBeUsedIsNamed) {
  QueuedWorkload queue;
  queue.flavor.topology_name = "racks";
  auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kPending);
  EXPECT_EQ(answer.message.substr(0, 35), "ResourceFlavor h100 has topologyNam");
  queue.workload["status"]["admission"]["podSetAssignments"][0]["flavors"] = {{"cpu", "gone"}};
  answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.message, "ResourceFlavor gone does not exist");
}

// A pod that keeps its own value would run where the quota is not for.
TEST(CheckTest, AFlavorThatContradictsTheTemplateIsRejected) {
  QueuedWorkload queue;
  queue.flavor.node_labels["zone"] = "b";
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRejected);
  EXPECT_EQ(answer.message,
            "pod set main: ResourceFlavor h100 sets nodeSelector zone to b, which is a already; "
            "correct the template or the flavor");
}

TEST(CheckTest, ChecksOfTwoFabricsAreRejected) {
  QueuedWorkload queue;
  queue.second = queue.check;
  queue.second->meta.key.name = "other";
  queue.second->parameters.name = "cpus";
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRejected);
  EXPECT_EQ(answer.message,
            "the queue's AdmissionChecks of Weft name the Fabrics gpus and cpus; a Workload gets "
            "nodes of one");
}

TEST(CheckTest, ALabelWithAnotherValueIsRejectedBeforeKueueGivesUp) {
  QueuedWorkload queue;
  queue.workload["spec"]["podSets"][0]["template"]["metadata"]["labels"]["weft.dev/placement"] =
      "x";
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).message,
            "pod set main: the label weft.dev/placement must not be set in the pod template: Weft "
            "sets it");
  QueuedWorkload beside;
  beside.Other()["podSetUpdates"] =
      Json::parse(R"([{"name": "main", "labels": {"weft.dev/placement": "y"}}])");
  const auto answer = std::get<AnswerCheck>(beside.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRejected);
  EXPECT_EQ(answer.message,
            "pod set main: the label weft.dev/placement is also set by the admission check other");
}

TEST(CheckTest, AnnotationsOfTheTemplateSayHowTheGangTalks) {
  QueuedWorkload queue;
  Json& meta = queue.workload["spec"]["podSets"][0]["template"]["metadata"];
  meta["annotations"] = {{"weft.dev/parallelism", R"({"tensor": 8})"},
                         {"weft.dev/topology", R"({"required": "leaf"})"}};
  const auto asked = std::get<RequestNodes>(queue.Next());
  EXPECT_EQ(asked.placements[0].parallelism.tensor, 8);
  EXPECT_EQ(asked.placements[0].topology.required, "leaf");
  meta["annotations"] = {{"weft.dev/parallelism", R"({"tensors": 8})"}};
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kRejected);
  EXPECT_EQ(answer.message.substr(0, 47), "pod set main: annotation weft.dev/parallelism: ");
}

TEST(CheckTest, EvictionFreesNodesWhenTheLastPodIsGone) {
  QueuedWorkload queue;
  queue.Admit();
  const std::string name = queue.placements[0].meta.key.name;
  queue.in_use = {name};
  EXPECT_TRUE(Rests(queue.Next()));
  queue.Set("Evicted", "True");
  EXPECT_TRUE(Rests(queue.Next()));
  queue.in_use.clear();
  const auto drop = std::get<DropPlacements>(queue.Next());
  ASSERT_EQ(drop.placements.size(), 1U);
  EXPECT_EQ(drop.placements[0]->meta.key.name, name);
}

TEST(CheckTest, AnAnswerOfALostReservationIsTakenBack) {
  QueuedWorkload queue;
  queue.Plan(std::get<RequestNodes>(queue.Next()));
  queue.Write(std::get<AnswerCheck>(queue.Next()));
  queue.Set("QuotaReserved", "False");
  EXPECT_TRUE(std::holds_alternative<DropPlacements>(queue.Next()));
  queue.placements.clear();
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kPending);
  queue.Write(answer);
  EXPECT_FALSE(queue.Mine().contains("podSetUpdates"));
  EXPECT_TRUE(Rests(queue.Next()));
}

TEST(CheckTest, AReadyAnswerWithoutItsPlacementIsTakenBackBeforeAdmission) {
  QueuedWorkload queue;
  queue.Plan(std::get<RequestNodes>(queue.Next()));
  queue.Write(std::get<AnswerCheck>(queue.Next()));
  queue.placements.clear();
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kPending);
}

TEST(CheckTest, AnAdmittedWorkloadThatLostItsNodesGetsOthersUnderTheSameName) {
  QueuedWorkload queue;
  queue.Admit();
  const std::string name = queue.placements[0].meta.key.name;
  queue.placements[0].nodes.clear();
  const auto asked = std::get<RequestNodes>(queue.Next());
  EXPECT_EQ(asked.placements[0].meta.key.name, name);
  queue.placements.clear();
  EXPECT_EQ(std::get<RequestNodes>(queue.Next()).placements[0].meta.key.name, name);
}

TEST(CheckTest, AWorkloadThatWasAdmittedBeforeTheCheckGetsNoNodes) {
  QueuedWorkload queue;
  queue.Set("Admitted", "True");
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kReady);
  EXPECT_TRUE(answer.placements.empty());
  queue.Write(answer);
  EXPECT_TRUE(Rests(queue.Next()));
}

TEST(CheckTest, ATrainingJobIsPlannedAsAJob) {
  QueuedWorkload queue;
  queue.workload["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "name": "j", "uid": "j1",
           "controller": true}])");
  EXPECT_TRUE(Rests(queue.Next()));  // until the job has its nodes
  queue.job.refusal = Refusal{kShort, "32 GPUs short"};
  auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(std::string(api::CheckStateName(answer.state)) + ": " + answer.message,
            "Pending: 32 GPUs short");
  queue.now += 600;
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kRetry);
  queue.job.refusal->ever = false;
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kRejected);

  api::Placement placement;
  placement.nodes = {"a", "b"};
  placement.conditions = {{"Placed", "True", "Placed", "1 leaf", ""}};
  queue.job = {&placement, {}};
  answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(std::string(api::CheckStateName(answer.state)) + ": " + answer.message,
            "Ready: 2 workers on 1 leaf");
  EXPECT_TRUE(answer.placements.empty());
  queue.Write(answer);
  EXPECT_TRUE(Rests(queue.Next()));
  queue.job = {};  // the job lost them before it was admitted
  EXPECT_EQ(std::get<AnswerCheck>(queue.Next()).state, api::CheckState::kPending);
  queue.Set("Admitted", "True");
  EXPECT_TRUE(Rests(queue.Next()));
}

TEST(CheckTest, AnAnnotationWithoutEffectIsNamed) {
  QueuedWorkload queue;
  queue.workload["spec"]["podSets"][0]["template"]["metadata"]["annotations"] = {
      {"kueue.x-k8s.io/podset-group-name", "both"}};
  queue.Plan(std::get<RequestNodes>(queue.Next()));
  EXPECT_TRUE(std::get<AnswerCheck>(queue.Next())
                  .message.ends_with("; pod set main: the annotation "
                                     "kueue.x-k8s.io/podset-group-name has no effect: Weft places "
                                     "each pod set by itself"));
}

TEST(CheckTest, AnUnreadableWorkloadSaysSo) {
  QueuedWorkload queue;
  queue.workload["spec"]["podSets"][0]["count"] = "four";
  const auto answer = std::get<AnswerCheck>(queue.Next());
  EXPECT_EQ(answer.state, api::CheckState::kPending);
  EXPECT_EQ(answer.message,
            "the Workload cannot be read: spec.podSets[0].count: \"four\" must be an integer");
}

TEST(CheckTest, ANameIsALabelValueAndDiffersByReservation) {
  api::Workload workload;
  workload.meta.uid = "w1";
  workload.meta.key.name = std::string(60, 'a') + ".very-long";
  workload.pod_sets.resize(2);
  const auto reserve = [&](UnixSeconds at) {
    workload.conditions = {{"QuotaReserved", "True", "", "", FormatTime(at)}};
    return CheckedPlacementName(workload, "workers");
  };
  const std::string first = reserve(kNow);
  EXPECT_EQ(first.size(), 63U);
  EXPECT_NE(first, reserve(kNow + 1));
  EXPECT_EQ(first, reserve(kNow));
  workload.meta.key.name = "job-a";
  EXPECT_EQ(reserve(kNow).substr(0, 14), "job-a-workers-");
}

TEST(CheckTest, ParametersNameAFabric) {
  api::AdmissionCheck check;
  const auto told = [&](api::AdmissionCheck::Parameters parameters) {
    check.parameters = std::move(parameters);
    const api::Condition one =
        ActiveCondition(check, [](const std::string& name) { return name == "gpus"; });
    return one.status + " " + one.message;
  };
  EXPECT_EQ(told({}), "True Weft places the Workloads of this check");
  EXPECT_EQ(told({"weft.dev", "Fabric", "gpus"}),
            "True Weft places the Workloads of this check on Fabric gpus");
  EXPECT_EQ(told({"weft.dev", "Fabric", "x"}), "False spec.parameters: Fabric x does not exist");
  EXPECT_EQ(told({"a.b", "C", "gpus"}),
            "False spec.parameters must have apiGroup weft.dev and kind Fabric, not a.b and C");
}

// Else a refusal between two crashes would hide the first.
TEST(CheckTest, KeepsTheRecordOfACrashInEveryAnswerPending) {
  QueuedWorkload queue;
  const std::string crash = plan::CrashText({"0.1.0", 11}, {});
  queue.Mine()["message"] = crash;
  queue.refusal = Refusal{kShort, "no room"};
  const CheckStep step = queue.Next();
  const auto* answer = std::get_if<AnswerCheck>(&step);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->state, api::CheckState::kPending);
  EXPECT_EQ(answer->message, "no room; " + crash);
  queue.refusal = Refusal{kShort, std::string(5000, 'x')};
  const CheckStep longer = queue.Next();
  ASSERT_TRUE(std::holds_alternative<AnswerCheck>(longer));
  EXPECT_TRUE(std::get<AnswerCheck>(longer).message.ends_with("...; " + crash));
}

// The planner refuses it then, and remembers that.
TEST(CheckTest, TellsThePlannerOfCrashes) {
  QueuedWorkload queue;
  const auto asked = [&]() -> std::vector<api::Condition> {
    const CheckStep step = queue.Next();
    const auto* ask = std::get_if<RequestNodes>(&step);
    return ask == nullptr ? std::vector<api::Condition>() : ask->placements[0].conditions;
  };
  EXPECT_TRUE(asked().empty());
  queue.Mine()["message"] = "no room; " + plan::CrashText({"0.1.0", 11}, {});
  EXPECT_FALSE(plan::RefusalFor(asked(), 0, {}));
  EXPECT_TRUE(plan::RefusalFor(asked(), 0, {.wary = true}));
  queue.Mine()["message"] = plan::CrashText({"0.1.0", 11}, {true, 2, kNow});
  EXPECT_TRUE(plan::RefusalFor(asked(), 0, {.version = "0.1.0"}));
  queue.Mine()["message"] = plan::CrashText({"0.1.0", 11, plan::Solving::kFigures}, {});
  ASSERT_EQ(asked().size(), 1U);
  EXPECT_EQ(asked()[0].type, api::kFiguresFailed);
}

TEST(CheckTest, AsksForNoOtherNodesOfAnAdmittedWorkloadThatTheSolverCrashedOnTwice) {
  for (const bool again : {false, true}) {
    QueuedWorkload queue;
    queue.Set("Admitted", "True");
    queue.Mine()["state"] = "Ready";
    queue.Mine()["message"] = "placed; " + plan::CrashText({"0.1.0", 11}, {again, 2, kNow});
    queue.Mine()["podSetUpdates"] = Json::array(
        {{{"name", "main"}, {"labels", {{"weft.dev/placement", "job-llama-1a2b3-lost"}}}}});
    EXPECT_EQ(std::holds_alternative<RequestNodes>(queue.Next()), !again);
    queue.options.version = "0.2.0";  // which has not tried it
    EXPECT_TRUE(std::holds_alternative<RequestNodes>(queue.Next()));
  }
}

}  // namespace
}  // namespace weft::life
