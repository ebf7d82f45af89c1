#include "operator/life/bind_window.h"

#include <gtest/gtest.h>

#include <list>
#include <optional>

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;
using Names = std::vector<std::string>;

// Three workers on n0, n1 and n2, unbound, in a window of 60 s that was opened `ago`.
struct Gang {
  std::vector<std::string> nodes = {"n0", "n1", "n2"};
  std::vector<api::Pod> pods = std::vector<api::Pod>(3);
  std::vector<bool> exists = {true, true, true};
  BindWindow window{.opened = kNow, .silent = false, .seconds = 60};
  std::optional<api::PodGroup> group = std::nullopt;  // that the pods are in

  Gang& Bind(std::size_t i) {
    pods[i].node_name = nodes[i];
    return *this;
  }
  Gang& Refuse(std::size_t i) {
    pods[i].unscheduled = "0/9 nodes are available";
    return *this;
  }
  BindVerdict After(std::int64_t seconds) const {
    std::vector<GangMember> members;
    for (std::size_t i = 0; i < pods.size(); ++i)
      members.push_back({&pods[i], &nodes[i], exists[i]});
    return JudgeBinding(members, {true, group ? &*group : nullptr}, window, kNow + seconds);
  }
};

TEST(BindWindowTest, AGangIsWaitedForWhileTheWindowIsOpen) {
  EXPECT_EQ(Gang().Bind(0).Bind(1).Bind(2).After(99).binding, Binding::kDone);
  EXPECT_EQ(Gang().After(20).binding, Binding::kWait);
  EXPECT_EQ(Gang().After(20).seconds, 40);
  EXPECT_EQ(Gang().Refuse(1).After(59).binding, Binding::kWait);
}

TEST(BindWindowTest, NodesThatRefusedAreNamedAndNoOthers) {
  const BindVerdict verdict = Gang().Bind(0).Refuse(2).After(60);
  EXPECT_EQ(verdict.binding, Binding::kUndo);
  EXPECT_EQ(verdict.cause, Cause::kSchedulerRefused);
  EXPECT_EQ(verdict.refused, Names{"n2"});
  EXPECT_EQ(verdict.message, "2 workers not bound; n2: 0/9 nodes are available");
}

TEST(BindWindowTest, SilenceIsNoRefusal) {
  const BindVerdict none = Gang().After(60);
  EXPECT_EQ(none.binding, Binding::kSilent);
  EXPECT_EQ(none.message,
            "none of 3 pods is bound, and kube-scheduler has reported nothing about them; is it "
            "running?");
  const BindVerdict half = Gang().Bind(0).After(60);
  EXPECT_EQ(half.binding, Binding::kUndo);
  EXPECT_EQ(half.cause, Cause::kSchedulerSilent);
  EXPECT_EQ(half.refused, Names{});
  EXPECT_EQ(half.message, "2 workers not bound; kube-scheduler reported nothing about them");
}

TEST(BindWindowTest, WhenKubeSchedulerIsBackTheGangHasAWindowOfItsOwn) {
  Gang gang;
  gang.window = {.opened = std::nullopt, .silent = true, .seconds = 60};
  EXPECT_EQ(gang.After(9'999).binding, Binding::kSilent);
  EXPECT_EQ(gang.Bind(1).After(9'999).binding, Binding::kOpen);
  gang.window.opened = kNow + 9'999;
  EXPECT_EQ(gang.After(9'999).seconds, 60);
}

TEST(BindWindowTest, DoesNotWaitForPodsThatCannotBeBound) {
  Gang gang;
  gang.exists[1] = false;
  EXPECT_EQ(gang.After(0).message, "3 workers not bound; n1: the node is gone");
  EXPECT_EQ(gang.After(0).refused, Names{"n1"});
  Gang preempting;
  preempting.pods[2].nominated_node = "n2";
  preempting.pods[2].unscheduled = "0/9 nodes are available";
  EXPECT_EQ(preempting.After(0).binding, Binding::kUndo);
  EXPECT_EQ(preempting.After(0).message, "3 workers not bound; n2: 0/9 nodes are available");
}

// Kubernetes 1.35 and later, while ResourceClaims or volumes are allocated.
TEST(BindWindowTest, APodThatIsAboutToBeBoundIsWaitedFor) {
  Gang gang;
  gang.pods[2].nominated_node = "n2";
  EXPECT_EQ(gang.After(0).binding, Binding::kWait);
}

TEST(BindWindowTest, GatesOfOthersAreWaitedForWithoutADeadline) {
  Gang gang;
  gang.pods[1].scheduling_gates = {"kueue.x-k8s.io/admission"};
  const BindVerdict verdict = gang.Bind(0).After(9'999);
  EXPECT_EQ(verdict.binding, Binding::kGated);
  EXPECT_EQ(verdict.message,
            "waiting for another controller to remove scheduling gates of 1 of 3 pods: "
            "kueue.x-k8s.io/admission");
  gang.pods[1].scheduling_gates.clear();
  gang.window.opened.reset();
  EXPECT_EQ(gang.After(9'999).binding, Binding::kOpen);
}

// Three workers in a PodGroup, of which kube-scheduler refused n1.
Gang RefusedGroup() {
  const std::string of_group = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining";
  const std::string found = of_group + ", pod group preemption: No preemption victims found";
  Gang gang;
  gang.group.emplace();
  gang.group->decided = true;
  gang.group->message = found;
  for (api::Pod& pod : gang.pods) pod.pod_group = "g";
  gang.pods[0].unscheduled = "pod group is unschedulable, " + found;
  gang.pods[1].unscheduled = "0/9 nodes are available: 1 node(s) had untolerated taint";
  gang.pods[2].unscheduled = of_group;
  return gang;
}

TEST(BindWindowTest, OfAPodGroupOnlyTheNodeThatRefusedIsNamed) {
  Gang gang = RefusedGroup();
  EXPECT_EQ(gang.After(59).binding, Binding::kWait);
  EXPECT_EQ(gang.After(60).refused, Names{"n1"});
  EXPECT_EQ(gang.After(60).message,
            "3 workers not bound; n1: 0/9 nodes are available: 1 node(s) had untolerated taint");
  gang.group->message = "";  // news of the pods came first
  EXPECT_EQ(gang.After(60).refused, Names{"n1"});
}

// Such as pods whose priority is not the group's: kube-scheduler says so of the group alone.
TEST(BindWindowTest, AnErrorOfThePodGroupBlamesNoNode) {
  Gang gang = RefusedGroup();
  for (api::Pod& pod : gang.pods) pod.unscheduled.clear();
  gang.group->message = "all pods in a single pod group should have the same priority";
  const BindVerdict verdict = gang.After(60);
  EXPECT_EQ(verdict.binding, Binding::kUndo);
  EXPECT_EQ(verdict.cause, Cause::kSchedulerRefused);
  EXPECT_EQ(verdict.refused, Names{});
  EXPECT_EQ(verdict.message, "3 workers not bound; " + gang.group->message);
}

TEST(BindWindowTest, PodsOfAPodGroupThatIsGoneDoNotWaitForEver) {
  Gang gang = RefusedGroup();
  for (api::Pod& pod : gang.pods) pod.unscheduled.clear();
  gang.group->message = "";
  EXPECT_EQ(gang.After(60).binding, Binding::kSilent);
  gang.group.reset();
  EXPECT_EQ(gang.After(59).binding, Binding::kWait);
  EXPECT_EQ(gang.After(60).binding, Binding::kUndo);
  EXPECT_EQ(gang.After(60).message, "3 workers not bound; PodGroup g is gone");
  gang.window = {.opened = std::nullopt, .silent = true, .seconds = 60};
  EXPECT_EQ(gang.After(0).binding, Binding::kOpen);
}

TEST(BindWindowTest, APreemptionForThePodGroupIsWaitedFor) {
  Gang gang = RefusedGroup();
  for (std::size_t i = 0; i < 3; ++i) gang.pods[i].nominated_node = gang.nodes[i];
  EXPECT_EQ(gang.After(60).binding, Binding::kWait);
  EXPECT_EQ(gang.After(60).seconds, kPreemptionSeconds);
  EXPECT_EQ(gang.After(60 + kPreemptionSeconds).binding, Binding::kUndo);
  EXPECT_EQ(gang.After(60 + kPreemptionSeconds).refused, Names{"n1"});
  EXPECT_EQ(gang.Bind(0).After(60).binding, Binding::kWait);  // the others follow
  gang.group->decided = false;                                // the gate is off in kube-scheduler
  EXPECT_EQ(gang.After(59).binding, Binding::kWait);
  EXPECT_EQ(gang.After(60).binding, Binding::kUndo);
  gang.exists[2] = false;
  EXPECT_EQ(gang.After(0).binding, Binding::kUndo);
}

TEST(BindWindowTest, APodGroupThatWaitsForMorePodsThanThereAreIsUndone) {
  Gang gang = RefusedGroup();
  for (api::Pod& pod : gang.pods) pod.unscheduled.clear();
  gang.group.emplace().min_count = 4;
  EXPECT_EQ(gang.After(60).binding, Binding::kSilent);  // others may make them
  gang.group->meta.labels = {{"weft.dev/job-uid", "u"}};
  EXPECT_EQ(gang.After(60).binding, Binding::kUndo);
  EXPECT_EQ(gang.After(60).message,
            "3 workers not bound; PodGroup g waits for 4 pods, and the gang has 3");
}

// kube-scheduler takes no pod of a group into its queue while one has a gate.
TEST(BindWindowTest, AGatedPodOfAPodGroupHoldsTheWindowOfAllOpen) {
  Gang gang = RefusedGroup();
  gang.group->message = "";
  for (api::Pod& pod : gang.pods) pod.unscheduled.clear();
  gang.pods[1].scheduling_gates = {"kueue.x-k8s.io/admission"};
  EXPECT_EQ(gang.After(9'999).binding, Binding::kGated);
  EXPECT_EQ(gang.After(9'999).message,
            "waiting for another controller to remove scheduling gates of 1 of 3 pods: "
            "kueue.x-k8s.io/admission");
  gang.pods[0].unscheduled = "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining";
  EXPECT_EQ(gang.After(9'999).binding, Binding::kGated);
  EXPECT_EQ(gang.After(9'999).refused, Names{});
  gang.pods[1].scheduling_gates.clear();  // then the gang has a window of its own
  gang.window.opened.reset();
  EXPECT_EQ(gang.After(9'999).binding, Binding::kOpen);
}

// The condition PodGroupInitiallyScheduled stays True after the pods that it was about have died.
TEST(BindWindowTest, APodGroupThatWasBoundOnceDoesNotStandForItsPods) {
  Gang gang = RefusedGroup();
  for (api::Pod& pod : gang.pods) pod.unscheduled.clear();
  gang.group->message = "";
  gang.Bind(0).Bind(2);
  EXPECT_EQ(gang.After(59).binding, Binding::kWait);
  EXPECT_EQ(gang.After(60).binding, Binding::kUndo);
  EXPECT_EQ(gang.After(60).cause, Cause::kSchedulerSilent);
  EXPECT_EQ(gang.After(60).refused, Names{});
}

TEST(BindWindowTest, AWindowThatAWrongClockOpenedIsOpenedAnew) {
  EXPECT_EQ(Gang().After(-60).seconds, 120);
  EXPECT_EQ(Gang().After(-61).binding, Binding::kOpen);
}

}  // namespace
}  // namespace weft::life
