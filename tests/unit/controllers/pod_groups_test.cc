#include "operator/controllers/pod_groups.h"

#include "operator/controllers/gang_files.h"
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
  std::size_t FinalizersOf(const api::ObjectKey& key) {
    return api_.At(Kind::kPodGroup, key.name)["metadata"]["finalizers"].size();
  }

  UnixSeconds now_ = kStart;
  watch::Store store_{[this] { return now_; }};
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  PodGroups groups_{store_, api_, events_, log_, {.now = [this] { return now_; }}};
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

TEST_F(PodGroupsTest, AfterAServerWithoutTheFeatureJobsArePinnedForAnHour) {
  groups_.OnPodWithoutGroup(job_.meta);
  groups_.OnPodWithoutGroup(job_.meta);
  EXPECT_EQ(events_.reasons.size(), 1U);
  EXPECT_FALSE(groups_.Wanted(job_));
  EXPECT_EQ(events_.reasons.size(), 2U);  // the job that is pinned is told
  now_ += kPinnedOnlySeconds;
  EXPECT_TRUE(groups_.Wanted(job_));
}

TEST_F(PodGroupsTest, ASchedulerThatBindsOneByOneIsNoticed) {
  const std::string name = GroupOfAttempt();
  auto group = *api::DecodePodGroup(api_.At(Kind::kPodGroup, name), "test");
  api::Pod pod;
  pod.node_name = "n0";
  pod.pod_group = name;
  life::JobView view;
  view.job = &job_;
  view.pods = {&pod};
  view.group = {true, &group};
  view.created = now_;
  view.now = now_ + kGroupDecidedWithinSeconds - 1;
  EXPECT_EQ(groups_.LookAt(view), 1);
  EXPECT_TRUE(groups_.Wanted(job_));
  ++view.now;
  group.decided = true;
  groups_.LookAt(view);
  EXPECT_TRUE(groups_.Wanted(job_));
  group.decided = false;
  pod.node_name = "";
  groups_.LookAt(view);
  EXPECT_TRUE(groups_.Wanted(job_));
  pod.node_name = "n0";
  groups_.LookAt(view);
  EXPECT_FALSE(groups_.Wanted(job_));
}

// The watch of PodGroups is behind that of pods.
TEST_F(PodGroupsTest, LateNewsOfAGroupBlamesNobody) {
  const std::string name = GroupOfAttempt();
  const auto late = *api::DecodePodGroup(api_.At(Kind::kPodGroup, name), "test");
  api_.Edit(Kind::kPodGroup, name, [](Json& group) {
    group["status"]["conditions"] = {{{"type", "PodGroupInitiallyScheduled"}, {"status", "True"}}};
  });
  api::Pod pod;
  pod.node_name = "n0";
  pod.pod_group = name;
  life::JobView view;
  view.job = &job_;
  view.pods = {&pod};
  view.group = {true, &late};
  view.now = view.created + kGroupDecidedWithinSeconds;
  groups_.LookAt(view);
  EXPECT_TRUE(groups_.Wanted(job_));
}

// A webhook gives the pods another priority than the template.
TEST_F(PodGroupsTest, AJobWhoseGroupIsInErrorGoesOnWithoutOne) {
  api::PodGroup group;
  group.decided = true;
  group.message = "all pods in a single pod group should have the same priority";
  api::Pod pod;
  life::JobView view;
  view.job = &job_;
  view.pods = {&pod};
  view.group = {true, &group};
  pod.unscheduled = "0/9 nodes are available";
  groups_.LookAt(view);
  EXPECT_TRUE(groups_.Wanted(job_));
  pod.unscheduled.clear();
  groups_.LookAt(view);
  EXPECT_FALSE(groups_.Wanted(job_));
  EXPECT_EQ(GroupOfAttempt(), "");
  EXPECT_EQ(events_.reasons.front(), "PodGroupsUnused");
  groups_.Forget(job_.meta.uid);
  EXPECT_TRUE(groups_.Wanted(job_));
}

TEST_F(PodGroupsTest, AFinalizerThatNobodyTakesOffIsTakenOff) {
  const api::ObjectKey key = LeftOver();
  PutPod(key.name, api::PodPhase::kRunning);
  EXPECT_EQ(groups_.Reconcile(key)->seconds, kGroupGoneWithinSeconds);
  now_ += kGroupGoneWithinSeconds;
  EXPECT_EQ(groups_.Reconcile(key)->seconds, kGroupGoneWithinSeconds);  // a pod is in it
  PutPod(key.name, api::PodPhase::kSucceeded);
  now_ += kGroupGoneWithinSeconds - 1;
  EXPECT_EQ(groups_.Reconcile(key)->seconds, 1);
  EXPECT_EQ(FinalizersOf(key), 1U);
  ++now_;
  ASSERT_TRUE(groups_.Reconcile(key));
  EXPECT_EQ(api_.CountOf(Kind::kPodGroup), 0U);
  EXPECT_FALSE(groups_.Wanted(job_));
}

TEST_F(PodGroupsTest, OneOfOthersKeepsItsFinalizer) {
  const api::ObjectKey key = LeftOver();
  api_.Edit(Kind::kPodGroup, key.name,
            [](Json& group) { group["metadata"]["ownerReferences"][0]["kind"] = "JobSet"; });
  store_.Put(*api::DecodePodGroup(api_.At(Kind::kPodGroup, key.name), "test"));
  now_ += 10 * kGroupGoneWithinSeconds;
  EXPECT_FALSE(groups_.Reconcile(key)->seconds);
  EXPECT_EQ(FinalizersOf(key), 1U);
}

}  // namespace
}  // namespace weft::controllers
