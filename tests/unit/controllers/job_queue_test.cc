// The Workload of a TrainingJob in a queue of Kueue, as the job's controller writes it.
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/controllers/job_controller.h"
#include "operator/life/accept.h"
#include "operator/life/kueue_quota.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class JobQueueTest : public ::testing::Test {
 protected:
  JobQueueTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      leader_.See(kind, key, object);
    };
    Json job = JobObject("Torch");
    job["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", "team-a"}};
    api_.Apply(Kind::kTrainingJob, job);
    api::ResourceFlavor flavor;
    flavor.meta.key.name = "h100";
    flavor.tolerations = {{"gpu", "Exists", "", ""}};
    leader_.store.Put(flavor);
  }

  // Passes until two leave nothing to do.
  void Run() {
    for (int i = 0, quiet = 0; i < 60 && quiet < 2; ++i) {
      const std::size_t before = api_.requests;
      leader_.planner.Pass();
      const Result<Outcome> outcome = leader_.jobs.Reconcile(kJob);
      ASSERT_TRUE(outcome) << outcome.error().message;
      quiet = !outcome->again && api_.requests == before ? quiet + 1 : 0;
    }
  }
  std::string Name() const {
    const Json job = api_.At(Kind::kTrainingJob, "llama");
    api::ObjectMeta meta;
    meta.key = kJob;
    meta.uid = job["metadata"]["uid"];
    return life::WorkloadName(meta);
  }
  Json Workload() const { return api_.At(Kind::kWorkload, Name()); }
  void Admit() {
    api_.Edit(Kind::kWorkload, Name(), [](Json& workload) {
      workload["status"] = Json::parse(R"({
          "admission": {"clusterQueue": "all", "podSetAssignments": [
              {"name": "workers", "count": 3, "flavors": {"nvidia.com/gpu": "h100"}}]},
          "conditions": [
              {"type": "QuotaReserved", "status": "True", "observedGeneration": 9},
              {"type": "Admitted", "status": "True", "lastTransitionTime": "2027-01-15T08:00:00Z"}
          ]})");
    });
  }
  std::string Placed() const {
    const Json status = api_.At(Kind::kTrainingJob, "llama").value("status", Json::object());
    for (const Json& one : status.value("conditions", Json::array())) {
      if (one["type"] == "Placed") return one["reason"].get<std::string>();
    }
    return "";
  }

  UnixSeconds now_ = kStart;
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Leader leader_{api_, now_, events_, [] { return true; }};
};

TEST_F(JobQueueTest, TheJobRunsWhenItsWorkloadIsAdmitted) {
  Run();
  EXPECT_EQ(api_.counts["create Workload"], 1);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  EXPECT_EQ(Placed(), "QuotaPending");
  Admit();
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPod), 3U);
  const Json pod = api_.At(Kind::kPod, "llama-1-0");
  EXPECT_EQ(pod["spec"]["tolerations"], Json::parse(R"([{"key": "gpu", "operator": "Exists"}])"));
  EXPECT_EQ(api_.At(Kind::kTrainingJob, "llama")["status"]["queue"]["clusterQueue"], "all");
}

TEST_F(JobQueueTest, AnEvictionIsFollowedToTheLastWrite) {
  Run();
  Admit();
  Run();
  api_.Edit(Kind::kWorkload, Name(), [](Json& workload) {
    workload["status"]["conditions"].push_back(
        {{"type", "Evicted"}, {"status", "True"}, {"reason", "Preempted"}, {"message", "why"}});
  });
  now_ += 60;
  Run();
  now_ += 60;
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPod), 0U);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  const Json status = Workload()["status"];
  EXPECT_FALSE(status.contains("admission"));
  EXPECT_EQ(status["conditions"][0]["status"], "False");
  EXPECT_FALSE(api_.At(Kind::kTrainingJob, "llama")["status"].contains("queue"));
  EXPECT_EQ(Placed(), "QuotaPending");
}

TEST_F(JobQueueTest, APriorityClassThatDoesNotExistIsSaid) {
  api_.Edit(Kind::kTrainingJob, "llama", [](Json& job) {
    job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent";
  });
  const Result<Outcome> first = leader_.jobs.Reconcile(kJob);
  ASSERT_TRUE(first);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(leader_.jobs.Reconcile(kJob));
  const Json conditions = api_.At(Kind::kTrainingJob, "llama")["status"]["conditions"];
  EXPECT_NE(conditions.dump().find("WorkloadPriorityClass urgent of its label"), std::string::npos);
  EXPECT_EQ(api_.CountOf(Kind::kWorkload), 0U);
}

// Kueue's webhook is down with Kueue itself.
TEST_F(JobQueueTest, AWebhookThatIsDownIsSaidOnceAndTheErrorStays) {
  for (const Kind kind : {Kind::kPod, Kind::kWorkload}) {
    api_.webhook_down = {kind};
    int failed = 0;
    for (int i = 0; i < 30; ++i, ++now_) failed += leader_.jobs.Reconcile(kJob) ? 0 : 1;
    EXPECT_GT(failed, 20) << KindWord(kind);
    EXPECT_EQ(Placed(), "NotWritten");
  }
  const Json conditions = api_.At(Kind::kTrainingJob, "llama")["status"]["conditions"];
  EXPECT_NE(conditions.dump().find("500: no webhook"), std::string::npos);
  EXPECT_EQ(std::ranges::count(events_.reasons, "NotWritten"), 1);
  api_.webhook_down.clear();
  Run();
  EXPECT_EQ(Placed(), "QuotaPending");
}

TEST_F(JobQueueTest, APolicyThatTakesTheFinalizerOffIsSaid) {
  api_.admit = [](Kind kind, Json& object) {
    if (kind == Kind::kTrainingJob) object["metadata"].erase("finalizers");
  };
  for (int i = 0; i < 20; ++i, ++now_) EXPECT_FALSE(leader_.jobs.Reconcile(kJob));
  EXPECT_EQ(Placed(), "NotWritten");
  const Json conditions = api_.At(Kind::kTrainingJob, "llama")["status"]["conditions"];
  EXPECT_NE(conditions.dump().find("takes the finalizer weft.dev/claims off"), std::string::npos);
  api_.admit = [](Kind, Json&) {};
  Run();
  EXPECT_EQ(Placed(), "QuotaPending");
}

TEST_F(JobQueueTest, AnOutageOfSecondsIsNotSaid) {
  api_.webhook_down = {Kind::kWorkload};
  for (int i = 0; i < 9; ++i, ++now_) (void)leader_.jobs.Reconcile(kJob);
  EXPECT_EQ(Placed(), "");
}

// Its namespace ends, say, and that the job is being deleted is news that has not come yet.
TEST_F(JobQueueTest, ARefusalThatCannotBeWrittenIsNotAskedForAgainAtOnce) {
  int asked = 0;
  api_.refuse = [&](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind != Kind::kPod) return std::nullopt;
    ++asked;
    return "the namespace is being terminated";
  };
  ASSERT_TRUE(leader_.jobs.Reconcile(kJob));  // the finalizer
  api_.watch = [](Kind, const api::ObjectKey&, const Json&) {};
  api_.Edit(Kind::kTrainingJob, "llama",
            [](Json& job) { job["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"; });
  for (int i = 0; i < 10; ++i) {
    const Result<Outcome> outcome = leader_.jobs.Reconcile(kJob);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::kConflict);
  }
  EXPECT_EQ(asked, 1);
  now_ += life::kShortestDryRunSeconds;
  (void)leader_.jobs.Reconcile(kJob);
  EXPECT_EQ(asked, 2);
}

TEST_F(JobQueueTest, ADeletedJobLeavesNoWorkload) {
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kWorkload), 1U);
  api_.Edit(Kind::kTrainingJob, "llama",
            [](Json& job) { job["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"; });
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kWorkload), 0U);
}

}  // namespace
}  // namespace weft::controllers
