#include "tests/world/kueue.h"

#include "gtest/gtest.h"
#include "tests/world/definitions.h"
#include "tests/world/job_controller.h"
#include "tests/world/kueue_jobs.h"
#include "tests/world/kueue_laws.h"
#include "tests/world/kueue_life.h"

namespace weft::world {
namespace {

// A lane of KueueLife: a queue of 32 GPUs with one check.
class KueueTest : public ::testing::Test {
 protected:
  KueueTest() {
    server.SetOnChange([this](const Change& change) {
      kueue.OnChange(change);
      jobs.OnChange(change);
      controller.OnChange(change);
      laws.OnChange(change);
    });
    server.SetAdmission([this](const auto& attempt) { return kueue.Admit(attempt); });
    for (const auto& action : KueueLife("lane", 1).Begin()) {
      const auto request = action.request(nullptr, Now());
      EXPECT_EQ(server.Handle(*request, "admin").status / 100, 2) << action.what;
    }
    Wait(5);
  }

  std::int64_t Now() const {
    return 1'767'225'600 +
           std::chrono::duration_cast<std::chrono::seconds>(fibers.now().time_since_epoch())
               .count();
  }
  void Wait(int time) { fibers.RunUntil(fibers.now() + seconds(time)); }

  void Make(const std::string& name, int pods, int priority = 0) {
    const Json container = {{"name", "a"}, {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
    const Json set = {{"name", "workers"},
                      {"count", pods},
                      {"template", {{"spec", {{"containers", {container}}}}}}};
    api.Create(kube::kWorkloads,
               {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                {"kind", "Workload"},
                {"metadata",
                 {{"name", name},
                  {"namespace", "lane"},
                  {"finalizers", {kInUse}},
                  {"ownerReferences",
                   {{{"apiVersion", "weft.dev/v1alpha1"},
                     {"kind", "TrainingJob"},
                     {"uid", "u"},
                     {"name", name}}}}}},
                {"spec", {{"queueName", "queue"}, {"priority", priority}, {"podSets", {set}}}}});
    Wait(5);
  }
  const Json& Of(const std::string& name) {
    kept = api.Find(kube::kWorkloads, {"lane", name});
    static const Json none;
    return kept ? *kept : none;
  }
  std::string ReasonOf(const std::string& name, const char* condition) {
    return TextAt(ConditionOf(Of(name), condition), {"reason"});
  }
  int Answer(const std::string& name, const char* state, const Json& updates = nullptr) {
    Json entry = {{"name", "lane"},
                  {"state", state},
                  {"message", ""},
                  {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
    if (!updates.is_null()) entry["podSetUpdates"] = updates;
    const int status = api.Patch(kube::kWorkloads, {"lane", name},
                                 {{"status", {{"admissionChecks", {entry}}}}}, "status");
    Wait(10);
    return status;
  }

  Fibers fibers{1};
  static std::vector<Json> Definitions() {
    std::vector<Json> all = WeftDefinitions();
    for (Json& one : KueueDefinitions()) all.push_back(std::move(one));
    return all;
  }
  ApiServer server{{.definitions = Definitions(), .now_seconds = [this] { return Now(); }}};
  Kueue kueue{fibers, server, {.now_seconds = [this] { return Now(); }}};
  KueueJobs jobs{fibers, server, kueue, [this] { return Now(); }, 2};
  JobController controller{fibers, server, [this] { return Now(); }, 3};
  Laws base{fibers, {}};
  KueueLaws laws{fibers, base};
  Actor api{server, "somebody"};
  std::shared_ptr<const Json> kept;
};

TEST_F(KueueTest, AdmitsWhatHasQuotaAndItsChecks) {
  Make("a", 2);
  EXPECT_TRUE(IsTrue(Of("a"), "QuotaReserved"));
  EXPECT_FALSE(IsTrue(Of("a"), "Admitted"));
  EXPECT_EQ(Answer("a", "Ready"), 200);
  EXPECT_TRUE(IsTrue(Of("a"), "Admitted"));
}

TEST_F(KueueTest, SaysWhichQuotaIsMissing) {
  Make("a", 3);
  Make("b", 2);
  EXPECT_EQ(ReasonOf("b", "QuotaReserved"), "WaitingForQuota");
  EXPECT_NE(TextAt(ConditionOf(Of("b"), "QuotaReserved"), {"message"}).find("8 more needed"),
            std::string::npos);
  Make("c", 5);
  EXPECT_EQ(ReasonOf("c", "QuotaReserved"), "ExceedsMaxQuota");
}

TEST_F(KueueTest, PreemptsByPriorityAndWaitsForTheQuota) {
  Make("a", 4);
  Make("b", 1, 10);
  EXPECT_EQ(ReasonOf("a", "Evicted"), "Preempted");
  EXPECT_TRUE(IsTrue(Of("a"), "QuotaReserved"));
  EXPECT_EQ(ReasonOf("b", "QuotaReserved"), "WaitingForPreemptedWorkloads");
  WorkloadStatus back(Of("a"), Now());
  back.SetRequeued(true, "Preempted", "");
  back.Unset("Pending", "");
  EXPECT_EQ(api.Patch(kube::kWorkloads, {"lane", "a"}, back.PatchOf(Of("a")), "status"), 200);
  Wait(10);
  EXPECT_TRUE(IsTrue(Of("b"), "QuotaReserved"));
  EXPECT_FALSE(IsTrue(Of("a"), "QuotaReserved"));
}

TEST_F(KueueTest, DeactivatesWhatACheckRejects) {
  Make("a", 1);
  Answer("a", "Rejected");
  EXPECT_EQ(At(Of("a"), {"spec", "active"}), Json(false));
  EXPECT_EQ(ReasonOf("a", "Evicted"), "DeactivatedDueToAdmissionCheck");
}

TEST_F(KueueTest, TriesAllOfALocalQueueThatGoesOn) {
  const auto stop = [&](const char* policy) {
    api.Patch(kLocalQueues, {"lane", "queue"}, {{"spec", {{"stopPolicy", policy}}}});
    Wait(10);
  };
  Make("a", 1);
  Make("b", 5);
  Answer("a", "Rejected");
  WorkloadStatus back(Of("a"), Now());
  back.SetRequeued(false, "DeactivatedDueToAdmissionCheck", "");  // as Weft does it
  back.Unset("Pending", "");
  EXPECT_EQ(api.Patch(kube::kWorkloads, {"lane", "a"}, back.PatchOf(Of("a")), "status"), 200);
  api.Patch(kube::kWorkloads, {"lane", "a"}, {{"spec", {{"active", true}}}});
  Wait(10);
  EXPECT_EQ(ReasonOf("a", "QuotaReserved"), "PendingEvaluation");
  stop("Hold");
  EXPECT_EQ(ReasonOf("a", "QuotaReserved"), "Suspended");
  EXPECT_EQ(ReasonOf("b", "QuotaReserved"), "Suspended");
  stop("None");
  EXPECT_EQ(ReasonOf("a", "QuotaReserved"), "QuotaReserved");
  EXPECT_EQ(ReasonOf("b", "QuotaReserved"), "ExceedsMaxQuota");
}

TEST_F(KueueTest, RefusesReservedQuotaWithoutAdmission) {
  Make("a", 1);
  EXPECT_EQ(
      api.Patch(kube::kWorkloads, {"lane", "a"}, {{"status", {{"admission", nullptr}}}}, "status"),
      403);
  kueue.SetDown(true);
  EXPECT_EQ(Answer("a", "Ready"), 500);
}

TEST_F(KueueTest, StartsAJobWithWhatChecksAddAndStopsItWhenEvicted) {
  const Json container = {{"name", "a"},
                          {"image", "registry.example/a:1"},
                          {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
  api.Create(kJobs, {{"apiVersion", "batch/v1"},
                     {"kind", "Job"},
                     {"metadata",
                      {{"name", "j"}, {"namespace", "lane"}, {"labels", {{kQueueName, "queue"}}}}},
                     {"spec",
                      {{"completionMode", "Indexed"},
                       {"completions", 2},
                       {"parallelism", 2},
                       {"template", {{"spec", {{"containers", {container}}}}}}}}});
  Wait(10);
  ASSERT_EQ(server.All("workloads.kueue.x-k8s.io").size(), 1U);
  const std::string name = server.All("workloads.kueue.x-k8s.io").begin()->first.name;
  EXPECT_TRUE(server.All("pods").empty());
  Answer(name, "Ready", {{{"name", "main"}, {"labels", {{"weft.dev/placement", "p"}}}}});
  ASSERT_EQ(server.All("pods").size(), 2U);
  for (const auto& [key, pod] : server.All("pods")) {
    EXPECT_EQ(LabelOf(*pod, "weft.dev/placement"), "p");
    EXPECT_EQ(At(*pod, {"spec", "nodeSelector", "pool"}), Json("lane"));
  }
  ASSERT_TRUE(kueue.Preempt({"lane", name}));
  Wait(1);
  kueue.SetSilent(true);  // before it gets its quota again
  Wait(30);
  EXPECT_TRUE(server.All("pods").empty());
}

TEST_F(KueueTest, LawSeesQuotaThatIsNotGivenBack) {
  Make("a", 1);
  kueue.Preempt({"lane", "a"});
  laws.Tick(false);
  Wait(600);
  laws.Tick(false);
  EXPECT_TRUE(base.broken().empty());
  Wait(600);
  laws.Tick(false);
  ASSERT_EQ(base.broken().size(), 1U);
  EXPECT_EQ(base.broken()[0].law, "K1");
}

}  // namespace
}  // namespace weft::world
