// PodGroups in the API server, kube-scheduler and kube-controller-manager of the world.
#include "gtest/gtest.h"
#include "tests/world/definitions.h"
#include "tests/world/gates.h"
#include "tests/world/group_protection.h"
#include "tests/world/pod_groups.h"
#include "tests/world/scheduler.h"

namespace weft::world {
namespace {

constexpr const char* kRefused =
    "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 didn't match Pod's node "
    "affinity/selector.";
constexpr const char* kOfGang = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining";

// Three nodes of 8 GPUs, and gangs of up to three pods, each pinned to one of them.
class GroupTest : public ::testing::Test {
 protected:
  GroupTest() {
    server.SetOnChange([this](const Change& change) { scheduler.OnChange(change); });
    scheduler.SetGroups({.gate = true,
                         .time = {},
                         .bind_fails = [this] { return failing > 0 && failing-- > 0; },
                         .on_failed = {}});
    for (int i = 0; i < 3; ++i) {
      const Json node = {{"apiVersion", "v1"},
                         {"kind", "Node"},
                         {"metadata", {{"name", NodeName(i)}}},
                         {"status", {{"allocatable", {{"nvidia.com/gpu", "8"}}}}}};
      admin.Create(kube::kNodes, node);
      admin.Patch(kube::kNodes, {"", NodeName(i)}, {{"status", node.at("status")}}, "status");
    }
    admin.Create(kube::kPriorityClasses, {{"metadata", {{"name", "high"}}}, {"value", 1'000}});
  }

  static ApiServer::Options OptionsOf() {
    ApiServer::Options options;
    options.definitions = WeftDefinitions();
    options.now_seconds = [] { return std::int64_t{1'800'000'000}; };
    options.pod_groups = true;
    return options;
  }
  static std::string NodeName(int i) { return "node-" + std::to_string(i); }
  static Json GroupObject(int least, const std::string& priority = "") {
    Json group = {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                  {"kind", "PodGroup"},
                  {"metadata", {{"name", "gang"}, {"namespace", "default"}}},
                  {"spec",
                   {{"schedulingPolicy", {{"gang", {{"minCount", least}}}}},
                    {"disruptionMode", {{"all", Json::object()}}}}}};
    if (!priority.empty()) group["spec"]["priorityClassName"] = priority;
    return group;
  }
  int MakeGroup(int least, const std::string& priority = "") {
    return admin.Create(kube::kPodGroups, GroupObject(least, priority));
  }
  // A pod of 8 GPUs that runs only on that node.
  void MakePod(const std::string& name, int node, const std::string& group = "gang",
               const std::string& priority = "") {
    Json spec = {{"nodeSelector", {{"kubernetes.io/hostname", NodeName(node)}}},
                 {"containers",
                  {{{"name", "one"},
                    {"image", "i:1"},
                    {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}}}}};
    if (!group.empty()) spec["schedulingGroup"] = {{"podGroupName", group}};
    if (!priority.empty()) spec["priorityClassName"] = priority;
    admin.Patch(kube::kNodes, {"", NodeName(node)},
                {{"metadata", {{"labels", {{"kubernetes.io/hostname", NodeName(node)}}}}}});
    const int status = admin.Create(
        kube::kPods, {{"metadata", {{"name", name}, {"namespace", "default"}}}, {"spec", spec}});
    EXPECT_EQ(status, 201) << admin.last().body;
  }
  void MakeGang(int pods, const std::string& priority = "") {
    for (int i = 0; i < pods; ++i) MakePod("pod-" + std::to_string(i), i, "gang", priority);
  }
  void Wait(int time) { fibers.RunUntil(fibers.now() + seconds(time)); }

  Json Pod(const std::string& name) {
    const auto pod = admin.Find(kube::kPods, {"default", name});
    return pod ? *pod : Json();
  }
  std::string NodeOfPod(const std::string& name) { return TextAt(Pod(name), {"spec", "nodeName"}); }
  std::string Told(const std::string& name) {
    return TextAt(ConditionOf(Pod(name), "PodScheduled"), {"message"});
  }
  Json Group() {
    const auto group = admin.Find(kube::kPodGroups, {"default", "gang"});
    return group ? *group : Json();
  }
  Json Decision() { return ConditionOf(Group(), "PodGroupInitiallyScheduled"); }

  Fibers fibers{1};
  ApiServer server{OptionsOf()};
  Actor admin{server, "admin"};
  Scheduler scheduler{fibers, server, 1};
  GroupProtection protection{server};
  int failing = 0;
};

TEST_F(GroupTest, ANewPodGroupGetsItsFinalizerAndThePriorityOfItsClass) {
  const auto dry = kube::CreateRequest(kube::kPodGroups, GroupObject(3, "high"), {.dry_run = true});
  const Json tried = Json::parse(server.Handle(dry, "admin").body);
  EXPECT_EQ(tried["metadata"]["finalizers"], Json({kProtection}));
  EXPECT_EQ(Group(), Json());
  EXPECT_EQ(MakeGroup(3, "low"), 403);
  EXPECT_EQ(MakeGroup(0), 422);
  EXPECT_EQ(MakeGroup(3, "high"), 201);
  EXPECT_EQ(NumberAt(Group(), {"spec", "priority"}), 1'000);
  EXPECT_EQ(GenerationOf(Group()), 1);
}

TEST_F(GroupTest, OnlyMinCountOfAPodGroupMayChange) {
  MakeGroup(3);
  const auto patch = [&](const Json& spec) {
    return admin.Patch(kube::kPodGroups, {"default", "gang"}, {{"spec", spec}});
  };
  EXPECT_EQ(patch({{"disruptionMode", {{"all", nullptr}, {"single", Json::object()}}}}), 422);
  EXPECT_EQ(patch({{"schedulingPolicy", {{"gang", {{"minCount", 2}}}}}}), 200);
  EXPECT_EQ(MinCountOf(Group()), 2);
  EXPECT_EQ(GenerationOf(Group()), 2);
}

TEST_F(GroupTest, APodLosesItsGroupWhereTheApiServerLacksTheGate) {
  server.SetGroupGate(ApiServer::GroupGate::kOff);
  MakePod("pod-0", 0);
  EXPECT_EQ(GroupOf(Pod("pod-0")), "");
  server.SetGroupGate(ApiServer::GroupGate::kOn);
  MakePod("pod-1", 1);
  EXPECT_EQ(GroupOf(Pod("pod-1")), "gang");
  EXPECT_EQ(admin.Patch(kube::kPods, {"default", "pod-1"},
                        {{"spec", {{"schedulingGroup", {{"podGroupName", "other"}}}}}}),
            422);
}

TEST_F(GroupTest, AGangWaitsInSilenceForItsPodGroupAndAllItsPods) {
  MakeGang(2);
  Wait(30);
  EXPECT_EQ(Told("pod-0"), "");
  MakeGroup(3);
  Wait(30);
  EXPECT_EQ(Told("pod-0"), "");
  EXPECT_EQ(Decision(), Json());
  MakePod("pod-2", 2);
  Wait(5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(NodeOfPod("pod-" + std::to_string(i)), NodeName(i));
  EXPECT_EQ(TextAt(Decision(), {"reason"}), "Scheduled");
}

TEST_F(GroupTest, OnlyThePodThatFitsNowhereHasAReasonOfItsOwn) {
  MakePod("other", 1, "");
  Wait(5);
  MakeGroup(3);
  MakeGang(3);
  Wait(5);
  const std::string told = std::string(kOfGang) +
                           ", pod group preemption: No preemption victims found for incoming "
                           "preemptor";
  EXPECT_EQ(Told("pod-0"), "pod group is unschedulable, " + told);
  EXPECT_EQ(Told("pod-1"), kRefused);
  EXPECT_EQ(Told("pod-2"), kOfGang);
  EXPECT_EQ(TextAt(Decision(), {"message"}), told);
  EXPECT_EQ(TextAt(Decision(), {"reason"}), "Unschedulable");
  EXPECT_EQ(NodeOfPod("pod-0"), "");
  admin.Delete(kube::kPods, {"default", "other"}, {.grace_seconds = 0});
  Wait(5);
  EXPECT_EQ(NodeOfPod("pod-0"), NodeName(0));
  EXPECT_EQ(TextAt(Decision(), {"status"}), "True");
}

TEST_F(GroupTest, AGangPreemptsOnItsOwnNodesOnly) {
  MakePod("elsewhere", 2, "");
  MakePod("victim", 1, "");
  Wait(5);
  MakeGroup(2, "high");
  MakeGang(2, "high");
  Wait(1);
  EXPECT_EQ(Told("pod-1"), kRefused);
  EXPECT_EQ(TextAt(Pod("pod-0"), {"status", "nominatedNodeName"}), NodeName(0));
  EXPECT_TRUE(IsDeleting(Pod("victim")));
  EXPECT_FALSE(IsDeleting(Pod("elsewhere")));
  Wait(20);
  const char* waits =
      "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: ongoing "
      "preemption on nominated nodes";
  EXPECT_EQ(TextAt(Decision(), {"message"}), waits);
  EXPECT_EQ(Told("pod-0"), waits);
  admin.Delete(kube::kPods, {"default", "victim"}, {.grace_seconds = 0});
  Wait(5);
  EXPECT_EQ(NodeOfPod("pod-0"), NodeName(0));
  EXPECT_EQ(NodeOfPod("pod-1"), NodeName(1));
}

TEST_F(GroupTest, AGangThatIsDisruptedAsOneGoesAsOne) {
  MakeGroup(2);
  MakeGang(2);
  Wait(5);
  MakePod("urgent", 1, "", "high");
  Wait(5);
  EXPECT_TRUE(IsDeleting(Pod("pod-0")));
  EXPECT_TRUE(IsDeleting(Pod("pod-1")));
}

TEST_F(GroupTest, APodWhoseBindRequestFailsIsTriedAgain) {
  failing = 1;
  MakeGroup(3);
  MakeGang(3);
  fibers.RunUntil(fibers.now() + std::chrono::milliseconds(900));
  int bound = 0;
  for (int i = 0; i < 3; ++i) bound += NodeOfPod("pod-" + std::to_string(i)).empty() ? 0 : 1;
  EXPECT_EQ(bound, 2);
  Wait(5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(NodeOfPod("pod-" + std::to_string(i)), NodeName(i));
}

TEST_F(GroupTest, PodsOfAnotherPriorityThanTheirGroupAreInError) {
  MakeGroup(2, "high");
  MakeGang(2);
  Wait(5);
  EXPECT_EQ(TextAt(ConditionOf(Pod("pod-0"), "PodScheduled"), {"reason"}), "SchedulerError");
  EXPECT_EQ(TextAt(Decision(), {"message"}),
            "all pods in a single pod group should have the same priority as the pod group's "
            "priority, got 0 and 1000");
}

TEST_F(GroupTest, WithoutTheGateKubeSchedulerBindsPodsOneByOne) {
  scheduler.SetGate(false);
  MakeGang(1);
  MakeGroup(3);
  Wait(5);
  EXPECT_EQ(NodeOfPod("pod-0"), NodeName(0));
  EXPECT_EQ(Decision(), Json());
}

TEST_F(GroupTest, ADeletedPodGroupGoesWithItsLastPod) {
  MakeGroup(1);
  MakeGang(1);
  Wait(5);
  admin.Delete(kube::kPodGroups, {"default", "gang"});
  EXPECT_FALSE(protection.Step());
  admin.Patch(kube::kPods, {"default", "pod-0"}, {{"status", {{"phase", "Succeeded"}}}}, "status");
  protection.SetGate(false);
  EXPECT_FALSE(protection.Step());
  EXPECT_TRUE(IsDeleting(Group()));
  protection.SetGate(true);
  EXPECT_TRUE(protection.Step());
  EXPECT_EQ(Group(), Json());
}

TEST(Gates, AreAllOnInHalfOfTheDays) {
  int on = 0, unserved = 0, lacking = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Gates gates = GatesOf(0, seed);
    ++(gates.AllOn() ? on : gates.served ? lacking : unserved);
  }
  EXPECT_NEAR(on, 200, 40);
  EXPECT_NEAR(unserved, 100, 30);
  EXPECT_NEAR(lacking, 100, 30);
}

}  // namespace
}  // namespace weft::world
