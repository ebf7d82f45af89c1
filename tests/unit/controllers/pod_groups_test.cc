#include "operator/controllers/pod_groups.h"

#include "operator/controllers/gang_files.h"
#include "operator/controllers/pod_group_release.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class PodGroupsTest : public ::testing::Test {
 protected:
  PodGroupsTest() {
    Json job = JobObject("Torch");
    job["metadata"]["uid"] = "u1";
    job_ = *api::DecodeTrainingJob(job, "test");
    placement_ = *api::DecodePlacement(Json::parse(R"({
        "metadata": {"name": "llama-1", "namespace": "ns", "uid": "p1",
                     "labels": {"weft.dev/attempt": "1"}},
        "spec": {"workers": 3, "accelerator": {"perWorker": 8}},
        "status": {"nodes": ["n0", "n1", "n2"]}})"),
                                       "test");
    store_.Listed<api::PodGroup>();
  }

  std::string GroupOfAttempt() {
    watch::FabricCache cache;
    const auto gang = GangFiles(store_, cache, api_, groups_, "").Of(job_, placement_);
    EXPECT_TRUE(gang) << gang.error().message;
    return gang ? gang->pod_group : "";
  }
  // A PodGroup of the attempt that is deleted and has the server's finalizer.
  api::ObjectKey LeftOver() {
    const std::string name = GroupOfAttempt();
    Json group = api_.At(Kind::kPodGroup, name);
    group["metadata"]["deletionTimestamp"] = "2026-11-28T00:00:00Z";
    group["metadata"]["finalizers"] = {api::kPodGroupFinalizer};
    api_.Apply(Kind::kPodGroup, group);
    group = api_.At(Kind::kPodGroup, name);
    store_.Put(*api::DecodePodGroup(group, "test"));
    return {"ns", name};
  }
  void PutPod(const std::string& group, api::PodPhase phase) {
    api::Pod pod;
    pod.meta.key = {"ns", "llama-1-0"};
    pod.meta.uid = "pod";
    pod.pod_group = group;
    pod.phase = phase;
    store_.Put(std::move(pod));
  }
  bool IsWanted() { return !groups_.WhyNot(job_); }

  // The attempt with a pod that is bound, and its group, about which nothing is decided.
  struct Bound {
    Bound(PodGroupsTest& test, const std::string& name)
        : group(*api::DecodePodGroup(test.api_.At(Kind::kPodGroup, name), "test")) {
      test.job_.attempt = 1;
      pod.node_name = "n0";
      pod.pod_group = name;
      view.job = &test.job_;
      view.placements = {&test.placement_};
      view.pods = {&pod};
      view.group = {true, &group};
      view.now = test.now_;
    }
    api::PodGroup group;
    api::Pod pod;
    life::JobView view;
  };

  std::size_t FinalizersOf(const api::ObjectKey& key) {
    return api_.At(Kind::kPodGroup, key.name)["metadata"]["finalizers"].size();
  }

  UnixSeconds now_ = kStart;
  watch::Store store_{[this] { return now_; }};
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  PodGroups groups_{store_, api_, events_, {.now = [this] { return now_; }}};
  PodGroupRelease releases_{store_, api_, log_, [this] { return now_; }};
  api::TrainingJob job_;
  api::Placement placement_;
};

TEST_F(PodGroupsTest, AnAttemptHasOneAndItsRecordNamesIt) {
  const std::string name = GroupOfAttempt();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(GroupOfAttempt(), name);
  EXPECT_EQ(api_.counts["create PodGroup"], 1);
  store_.Listed<api::PodGroup>(false);  // another leader, which may not list them
  EXPECT_EQ(GroupOfAttempt(), name);
}

TEST_F(PodGroupsTest, AnAttemptThatBeganWithoutOneGoesOnWithout) {
  store_.Listed<api::PodGroup>(false);
  EXPECT_EQ(GroupOfAttempt(), "");
  store_.Listed<api::PodGroup>();
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(api_.CountOf(Kind::kPodGroup), 0U);
}

TEST_F(PodGroupsTest, AServerThatRefusesItDoesNotHoldTheJob) {
  api_.refuse = [](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind == Kind::kPodGroup) return "podgroups is forbidden";
    return std::nullopt;
  };
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"PodGroupsUnused"}));
  EXPECT_EQ(GroupOfAttempt(), "");  // as recorded
}

TEST_F(PodGroupsTest, OneOfAnotherOwnerIsNotUsed) {
  const std::string name = GroupOfAttempt();
  api_.Edit(Kind::kPodGroup, name,
            [](Json& group) { group["metadata"]["ownerReferences"][0]["uid"] = "other"; });
  launch::Gang gang;
  gang.job = &job_;
  gang.placement_uid = "p1";
  gang.nodes = ByWorker<std::string>(placement_.nodes);
  EXPECT_EQ(*groups_.Make(gang), "");
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"PodGroupsUnused"}));
}

TEST_F(PodGroupsTest, AServerThatDoesNotAnswerHoldsTheJobForAMoment) {
  api_.webhook_down = {Kind::kPodGroup};
  watch::FabricCache cache;
  GangFiles files(store_, cache, api_, groups_, "");
  EXPECT_FALSE(files.Of(job_, placement_));
  now_ += kGroupMadeWithinSeconds - 1;
  EXPECT_FALSE(files.Of(job_, placement_));
  ++now_;
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(events_.reasons, (std::vector<std::string>{"PodGroupsUnused"}));
}

TEST_F(PodGroupsTest, AJobWhosePodsLoseTheirGroupIsOnlyPinnedForAnHour) {
  api::TrainingJob other = job_;
  other.meta.uid = "u2";
  groups_.OnPodWithoutGroup(job_.meta);
  groups_.OnPodWithoutGroup(job_.meta);
  EXPECT_EQ(events_.reasons.size(), 1U);
  EXPECT_FALSE(IsWanted());
  EXPECT_EQ(groups_.WhyNot(other), std::nullopt);
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(events_.reasons.size(), 2U);  // told of this attempt
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(events_.reasons.size(), 2U);
  now_ += kPinnedOnlySeconds;
  EXPECT_TRUE(IsWanted());
  now_ -= 2 * kPinnedOnlySeconds;  // the clock was ahead
  EXPECT_TRUE(IsWanted());
}

TEST_F(PodGroupsTest, AJobWhosePodsAreRefusedWithAGroupGoesOnWithout) {
  groups_.OnPodRefused(job_.meta, "exceeded quota");
  EXPECT_TRUE(IsWanted());
  groups_.OnPodRefused(job_.meta, "exceeded quota");
  EXPECT_FALSE(IsWanted());
  groups_.Forget("u1");
  groups_.OnPodRefused(job_.meta, "spec.schedulingGroup is forbidden here");
  EXPECT_FALSE(IsWanted());
}

TEST_F(PodGroupsTest, ASchedulerThatBindsOneByOneIsNoticed) {
  Bound bound(*this, GroupOfAttempt());
  EXPECT_EQ(groups_.LookAt(bound.view), kGroupDecidedWithinSeconds);
  bound.view.now += kGroupDecidedWithinSeconds - 1;
  EXPECT_EQ(groups_.LookAt(bound.view), 1);
  ++bound.view.now;
  bound.pod.node_name = "";
  EXPECT_EQ(groups_.LookAt(bound.view), std::nullopt);
  EXPECT_TRUE(IsWanted());
  bound.pod.node_name = "n0";
  groups_.LookAt(bound.view);
  EXPECT_FALSE(IsWanted());
  EXPECT_EQ(groups_.LookAt(bound.view), std::nullopt);
}

// The watch of PodGroups is behind that of pods.
TEST_F(PodGroupsTest, LateNewsOfAGroupBlamesNobody) {
  const std::string name = GroupOfAttempt();
  Bound bound(*this, name);
  api_.Edit(Kind::kPodGroup, name, [](Json& group) {
    group["status"]["conditions"] = {{{"type", "PodGroupInitiallyScheduled"}, {"status", "True"}}};
  });
  groups_.LookAt(bound.view);
  bound.view.now += kGroupDecidedWithinSeconds;
  groups_.LookAt(bound.view);
  EXPECT_TRUE(IsWanted());
}

// PodGroupInitiallyScheduled stays True after the pods have died: it says nothing of them.
TEST_F(PodGroupsTest, AGroupThatWasBoundOnceIsNotWatchedForItsPods) {
  Bound bound(*this, GroupOfAttempt());
  bound.group.decided = true;
  bound.pod.phase = api::PodPhase::kFailed;
  EXPECT_EQ(groups_.LookAt(bound.view), std::nullopt);
  bound.view.pods.clear();
  bound.view.now += kGroupDecidedWithinSeconds;
  EXPECT_EQ(groups_.LookAt(bound.view), std::nullopt);
  EXPECT_TRUE(IsWanted());
  EXPECT_TRUE(events_.reasons.empty());
}

// Such as one that a template names, for another scheduler.
TEST_F(PodGroupsTest, AGroupOfSomebodyElseSaysNothing) {
  Bound bound(*this, GroupOfAttempt());
  bound.group.meta.owners.front().uid = "other";
  bound.group.message = "SchedulerError: no such profile";
  groups_.LookAt(bound.view);
  bound.view.now += kGroupDecidedWithinSeconds;
  EXPECT_EQ(groups_.LookAt(bound.view), std::nullopt);
  EXPECT_TRUE(IsWanted());
}

// A webhook gives the pods another priority than the template.
TEST_F(PodGroupsTest, AJobWhoseGroupIsInErrorGoesOnWithoutOne) {
  Bound bound(*this, GroupOfAttempt());
  bound.pod.node_name = "";
  bound.group.decided = true;
  bound.group.message = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining";
  groups_.LookAt(bound.view);
  EXPECT_TRUE(IsWanted());
  bound.group.message = "SchedulerError: all pods should have the same priority";
  groups_.LookAt(bound.view);
  EXPECT_FALSE(IsWanted());
}

TEST_F(PodGroupsTest, AFinalizerThatNobodyTakesOffIsTakenOff) {
  const api::ObjectKey key = LeftOver();
  PutPod(key.name, api::PodPhase::kRunning);
  EXPECT_EQ(releases_.Reconcile(key)->seconds, kGroupGoneWithinSeconds);
  now_ += kGroupGoneWithinSeconds;
  EXPECT_EQ(releases_.Reconcile(key)->seconds, kGroupGoneWithinSeconds);  // a pod is in it
  PutPod(key.name, api::PodPhase::kSucceeded);
  now_ += kGroupGoneWithinSeconds - 1;
  EXPECT_EQ(releases_.Reconcile(key)->seconds, 1);
  EXPECT_EQ(FinalizersOf(key), 1U);
  ++now_;
  ASSERT_TRUE(releases_.Reconcile(key));
  EXPECT_EQ(FinalizersOf(key), 0U);
  EXPECT_TRUE(IsWanted());
}

TEST_F(PodGroupsTest, OneOfOthersKeepsItsFinalizer) {
  const api::ObjectKey key = LeftOver();
  api_.Edit(Kind::kPodGroup, key.name,
            [](Json& group) { group["metadata"]["ownerReferences"][0]["kind"] = "JobSet"; });
  store_.Put(*api::DecodePodGroup(api_.At(Kind::kPodGroup, key.name), "test"));
  now_ += 10 * kGroupGoneWithinSeconds;
  EXPECT_FALSE(releases_.Reconcile(key)->seconds);
  EXPECT_EQ(FinalizersOf(key), 1U);
}

}  // namespace
}  // namespace weft::controllers
