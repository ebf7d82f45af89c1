#include "operator/controllers/workload_controller.h"

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

const api::ObjectKey kWorkload{"ns", "job-a"};

// A Workload with reserved quota and a check of Weft, in an API server, a store that follows it,
// and a planner with six nodes of 8 GPUs.
class WorkloadControllerTest : public ::testing::Test {
 protected:
  WorkloadControllerTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      Follow(kind, key, object);
    };
    api_.Apply(Kind::kAdmissionCheck, Json::parse(R"({"metadata": {"name": "place"},
                               "spec": {"controllerName": "weft.dev/placement"}})"));
    Json workload = Json::parse(R"({
        "metadata": {"name": "job-a", "namespace": "ns"},
        "spec": {"podSets": [
            {"name": "a", "count": 2, "template": {"spec": {"containers": [
                {"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}},
            {"name": "b", "count": 3, "template": {"spec": {"containers": [
                {"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}}]},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "True",
                                   "lastTransitionTime": "2027-01-15T08:00:00Z"}],
                   "admissionChecks": [{"name": "place", "state": "Pending", "message": "",
                                        "lastTransitionTime": "2027-01-15T08:00:00Z"}]}})");
    api_.Apply(Kind::kWorkload, std::move(workload));
  }

  void Follow(Kind kind, const api::ObjectKey& key, const Json& object) {
    if (kind == Kind::kWorkload) return leader_.store.Put(*api::DecodeWorkload(object, "test"));
    if (kind == Kind::kAdmissionCheck) {
      return leader_.store.Put(*api::DecodeAdmissionCheck(object, "test"));
    }
    leader_.See(kind, key, object);
  }

  // Passes of the controller and of the planner until two of them have written nothing: a refusal
  // of the first is told by the second.
  void Run() {
    int quiet = 0;
    for (int i = 0; i < 20; ++i) {
      const std::size_t before = api_.requests;
      const auto outcome = controller_.Reconcile(kWorkload);
      ASSERT_TRUE(outcome) << outcome.error().message;
      leader_.planner.Pass();
      quiet = api_.requests == before && !outcome->again ? quiet + 1 : 0;
      if (quiet == 2) return;
    }
    FAIL() << "no rest";
  }
  void Edit(const std::function<void(Json&)>& edit) { api_.Edit(Kind::kWorkload, "job-a", edit); }
  const Json& Check() { return api_.At(Kind::kWorkload, "job-a")["status"]["admissionChecks"][0]; }
  // The Placement that a pod set's pods are told of.
  const Json& PlacementOf(std::size_t update) {
    return api_.At(Kind::kPlacement,
                   Check()["podSetUpdates"][update]["labels"]["weft.dev/placement"]);
  }

  bool synced_ = true;
  UnixSeconds now_ = kStart;
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Leader leader_{api_, now_, events_};
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  watch::FabricCache cache_;
  WorkloadController controller_{leader_.store,
                                 cache_,
                                 api_,
                                 leader_.planner,
                                 log_,
                                 {.check = {},
                                  .node_loss_seconds = 60,
                                  .now = [this] { return now_; },
                                  .synced = [this] { return synced_; }}};
};

TEST_F(WorkloadControllerTest, EachPodSetGetsAPlacementAndTheCheckIsReady) {
  Run();
  EXPECT_EQ(Check()["state"], "Ready");
  ASSERT_EQ(Check()["podSetUpdates"].size(), 2U);
  const Json& placement = PlacementOf(0);
  EXPECT_EQ(placement["status"]["nodes"].size(), 2U);
  EXPECT_EQ(PlacementOf(1)["status"]["nodes"].size(), 3U);
  const Json& meta = placement["metadata"];
  EXPECT_EQ(meta["ownerReferences"][0]["uid"],
            api_.At(Kind::kWorkload, "job-a")["metadata"]["uid"]);
  EXPECT_EQ(meta["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(Json::parse(meta["annotations"]["weft.dev/pod-requests"].get<std::string>()),
            Json::parse(R"({"nvidia.com/gpu": "8"})"));
  EXPECT_EQ(meta["labels"]["kueue.x-k8s.io/podset"], "a");
  EXPECT_EQ(placement["spec"]["podSelector"]["matchLabels"]["weft.dev/placement"], meta["name"]);
}

TEST_F(WorkloadControllerTest, AllPodSetsOrNoneGetNodes) {
  Edit([](Json& workload) { workload["spec"]["podSets"][1]["count"] = 5; });
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  EXPECT_EQ(Check()["state"], "Pending");
  EXPECT_NE(Check()["message"].get<std::string>().find("room for 4 of 5 workers"),
            std::string::npos)
      << Check()["message"];
  now_ += 600;
  Run();
  EXPECT_EQ(Check()["state"], "Retry");
}

// Kueue writes the time of the reservation by its clock.
TEST_F(WorkloadControllerTest, HoldsTheQuotaAsLongHoweverFarAheadItsClockIs) {
  Edit([](Json& workload) { workload["spec"]["podSets"][1]["count"] = 5; });
  now_ += 3'600;
  Run();
  EXPECT_EQ(Check()["state"], "Pending");
  now_ += 599;
  Run();
  EXPECT_EQ(Check()["state"], "Pending");
  now_ += 1;
  Run();
  EXPECT_EQ(Check()["state"], "Retry");
}

TEST_F(WorkloadControllerTest, RejectsAWorkloadLargerThanTheFabric) {
  Edit([](Json& workload) { workload["spec"]["podSets"][0]["count"] = 7; });
  Run();
  EXPECT_EQ(Check()["state"], "Rejected");
}

// So that its retries are less and less often.
TEST_F(WorkloadControllerTest, AnAnswerThatIsNotWrittenFailsAgain) {
  Edit([](Json& workload) { workload["spec"]["podSets"][0]["count"] = 7; });
  ASSERT_TRUE(controller_.Reconcile(kWorkload));
  leader_.planner.Pass();
  api_.webhook_down = {Kind::kWorkload};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(controller_.Reconcile(kWorkload));
  EXPECT_EQ(leader_.planner.Requesters().size(), 1U);
  api_.webhook_down.clear();
  EXPECT_TRUE(controller_.Reconcile(kWorkload));
  EXPECT_EQ(Check()["state"], "Rejected");
  EXPECT_TRUE(leader_.planner.Requesters().empty());
}

TEST_F(WorkloadControllerTest, AfterAnEvictionThePlacementsGoAndTheNextReservationGetsOthers) {
  Run();
  const std::string before = PlacementOf(0)["metadata"]["name"];
  const auto is = [](const char* type, const char* status, const char* time) {
    return Json{{"type", type}, {"status", status}, {"lastTransitionTime", time}};
  };
  Edit([&](Json& workload) {
    workload["status"]["conditions"].push_back(is("Evicted", "True", "2027-01-15T09:00:00Z"));
  });
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  Edit([&](Json& workload) {
    workload["status"]["conditions"] =
        Json::array({is("QuotaReserved", "True", "2027-01-15T10:00:00Z")});
    workload["status"]["admissionChecks"][0]["state"] = "Pending";
  });
  Run();
  EXPECT_EQ(Check()["state"], "Ready");
  EXPECT_NE(PlacementOf(0)["metadata"]["name"], before);
}

TEST_F(WorkloadControllerTest, NodesAreNotFreeWhileAPodMayRun) {
  Run();
  const std::string name = PlacementOf(0)["metadata"]["name"];
  Json pod = Json::parse(R"({"metadata": {"name": "p", "namespace": "ns", "uid": "p1"},
                             "spec": {"nodeName": "n0"}, "status": {"phase": "Running"}})");
  pod["metadata"]["labels"] = {{"weft.dev/placement", name}};
  leader_.store.Put(*api::DecodePod(pod, "test"));
  Edit([](Json& workload) {
    workload["status"]["conditions"].push_back({{"type", "Finished"}, {"status", "True"}});
  });
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 1U);
  pod["status"]["phase"] = "Failed";
  leader_.store.Put(*api::DecodePod(pod, "test"));
  Run();
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

TEST_F(WorkloadControllerTest, AReservationThatIsLostMeanwhileIsNotAnswered) {
  ASSERT_TRUE(controller_.Reconcile(kWorkload));
  leader_.planner.Pass();
  api_.watch = nullptr;  // the store does not hear of it
  Edit([](Json& workload) { workload["status"]["conditions"][0]["status"] = "False"; });
  const auto outcome = controller_.Reconcile(kWorkload);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->again);
  ASSERT_TRUE(controller_.Reconcile(kWorkload));
  EXPECT_EQ(Check()["state"], "Pending");
}

// Kueue writes conditions of its own right after it has reserved quota.
TEST_F(WorkloadControllerTest, AnAnswerThatCameTooLateIsGivenToWhatTheWorkloadIsNow) {
  ASSERT_TRUE(controller_.Reconcile(kWorkload));
  leader_.planner.Pass();
  api_.watch = nullptr;
  Edit([](Json& workload) {
    workload["status"]["conditions"].push_back({{"type", "PodsReady"}, {"status", "False"}});
  });
  EXPECT_TRUE(controller_.Reconcile(kWorkload)->again);
  EXPECT_EQ(Check()["state"], "Pending");
  EXPECT_TRUE(controller_.Reconcile(kWorkload)->again);
  EXPECT_EQ(Check()["state"], "Ready");
}

TEST_F(WorkloadControllerTest, NothingIsDecidedBeforeEveryKindIsListed) {
  synced_ = false;
  const auto outcome = controller_.Reconcile(kWorkload);
  EXPECT_EQ(outcome->seconds, 1);
  leader_.planner.Pass();
  EXPECT_EQ(api_.requests, 0U);
}

TEST_F(WorkloadControllerTest, AnAdmissionCheckBecomesActiveOrSaysWhyNot) {
  const auto active = [&] {
    EXPECT_TRUE(controller_.Reconcile({"", "place"}));
    const Json& one = api_.objects().at({Kind::kAdmissionCheck, "", "place"});
    return one["status"]["conditions"][0]["status"].get<std::string>();
  };
  EXPECT_EQ(active(), "True");
  const std::size_t requests = api_.requests;
  EXPECT_EQ(active(), "True");
  EXPECT_EQ(api_.requests, requests);
  Json check = api_.objects().at({Kind::kAdmissionCheck, "", "place"});
  check["spec"]["parameters"] = {{"apiGroup", "weft.dev"}, {"kind", "Fabric"}, {"name", "x"}};
  api_.Apply(Kind::kAdmissionCheck, check);
  EXPECT_EQ(active(), "False");
  check["spec"]["controllerName"] = "of.another/one";
  check["status"] = Json::object();
  api_.Apply(Kind::kAdmissionCheck, check);
  EXPECT_TRUE(controller_.Reconcile({"", "place"}));
  EXPECT_TRUE(api_.objects().at({Kind::kAdmissionCheck, "", "place"})["status"].empty());
}

}  // namespace
}  // namespace weft::controllers
