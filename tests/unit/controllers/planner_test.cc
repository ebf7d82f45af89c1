#include "operator/controllers/planner.h"

#include <chrono>
#include <csignal>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>

#include "operator/api/encode.h"
#include "operator/plan/solver_crash.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class PlannerTest : public ::testing::Test {
 protected:
  // As the job's controller has accepted it.
  api::TrainingJob Enqueue(const std::string& name, std::uint32_t workers) {
    Json object = JobObject("Torch");
    object["spec"]["workers"]["replicas"] = workers;
    object["metadata"]["name"] = name;
    object["metadata"]["uid"] = "uid of " + name;
    object["metadata"]["generation"] = 1;
    const api::TrainingJob job = *api::DecodeTrainingJob(object, "test");
    leader_.store.Put(job);
    leader_.planner.Enqueue(job);
    return job;
  }
  void Pass() { leader_.planner.Pass(); }
  // Of the job's attempt; "": with no label that says which.
  static Json PlacementOfJob(const api::TrainingJob& job, const std::string& attempt) {
    Json labels = Json::object();
    if (!attempt.empty()) labels["weft.dev/attempt"] = attempt;
    return {{"apiVersion", "weft.dev/v1alpha1"},
            {"kind", "Placement"},
            {"metadata",
             {{"namespace", "ns"},
              {"name", job.meta.key.name + "-1"},
              {"labels", labels},
              {"ownerReferences",
               {{{"apiVersion", "weft.dev/v1alpha1"},
                 {"kind", "TrainingJob"},
                 {"name", job.meta.key.name},
                 {"uid", job.meta.uid},
                 {"controller", true}}}}}},
            {"spec", {{"workers", job.replicas}}}};
  }
  // The Placement "gang" of another controller's pod, which waits for a node.
  void CreateGang() {
    const Json gang = Json::parse(R"({
        "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
        "metadata": {"name": "gang", "namespace": "ns", "uid": "g"},
        "spec": {"workers": 1, "accelerator": {"resourceName": "nvidia.com/gpu", "perWorker": 8},
                 "podSelector": {"matchLabels": {"app": "x"}}}})");
    ASSERT_TRUE(api_.Create(Kind::kPlacement, gang, false));
    api::Pod pod;
    pod.meta.key = {"ns", "p"};
    pod.meta.labels.Set("app", "x");
    pod.meta.uid = "p";
    pod.pod.requests = {{"nvidia.com/gpu", 8}};
    pod.scheduling_gates = {"weft.dev/placement"};
    leader_.store.Put(std::move(pod));
  }

  UnixSeconds now_ = kStart;
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Leader leader_{api_, now_, events_};
};

TEST_F(PlannerTest, CreatesAPlacementAndThenWritesItsNodes) {
  Enqueue("llama", 3);
  Pass();
  EXPECT_EQ(api_.requests, 2U);
  const Json& placement = api_.At(Kind::kPlacement, "llama-1");
  EXPECT_EQ(placement["status"]["nodes"], Json::parse(R"(["n0", "n1", "n2"])"));
  EXPECT_EQ(placement["metadata"]["ownerReferences"][0]["uid"], "uid of llama");
  Pass();
  EXPECT_EQ(api_.requests, 2U);
}

TEST_F(PlannerTest, GivesTwoJobsDifferentNodes) {
  Enqueue("llama", 3);
  Enqueue("other", 3);
  Pass();
  std::set<std::string> nodes;
  for (const char* name : {"llama-1", "other-1"}) {
    for (const Json& node : api_.At(Kind::kPlacement, name)["status"]["nodes"]) {
      EXPECT_TRUE(nodes.insert(node.get<std::string>()).second) << node;
    }
  }
  EXPECT_EQ(nodes.size(), 6U);
}

TEST_F(PlannerTest, ARefusalIsKeptUntilTheJobIsGone) {
  const api::TrainingJob job = Enqueue("llama", 7);
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_EQ(leader_.planner.RefusalOf(job)->reason, "InsufficientCapacity");
  leader_.store.Remove<api::TrainingJob>({job.meta.key});
  Pass();
  EXPECT_FALSE(leader_.planner.RefusalOf(job));
  EXPECT_EQ(api_.requests, 0U);
}

TEST_F(PlannerTest, ARefusalSaysHowManyWaitAheadInTheQueue) {
  Enqueue("first", 6);
  const api::TrainingJob never = Enqueue("never", 70), second = Enqueue("second", 6),
                         last = Enqueue("third", 6);
  Pass();
  const auto told = [&](const api::TrainingJob& job) {
    const auto refusal = leader_.planner.RefusalOf(job);
    return refusal ? refusal->message : "";
  };
  EXPECT_EQ(told(never).find("ahead"), std::string::npos) << told(never);
  EXPECT_EQ(told(second).find("ahead"), std::string::npos) << told(second);
  EXPECT_NE(told(last).find(" 1 job waits ahead of it."), std::string::npos) << told(last);
}

TEST_F(PlannerTest, ANodeThatWasMadeAgainIsNoLongerExcludedHoweverSoon) {
  api::TrainingJob job = Enqueue("llama", 6);
  job.record.excluded = {{"n2", FormatTime(now_ + 300)}};
  leader_.store.Put(job);
  leader_.planner.SeeExcluded(job.meta.uid, job.record.excluded);
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  now_ += 5;
  api::Node node = *leader_.store.At<api::Node>({"", "n2"});
  node.facts.labels.Set("rebooted", "yes");
  leader_.store.Put(node);
  Pass();
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  leader_.store.Remove<api::Node>({{"", "n2"}});
  Pass();
  node.meta.uid = "n2 again";
  node.meta.creation_timestamp = FormatTime(now_ - 180);  // by a clock that is behind
  leader_.store.Put(node);
  Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "llama-1")["status"]["nodes"].size(), 6U);
}

// A gang's pods come one after the other: the first counts are corrected soon, later ones seldom.
TEST_F(PlannerTest, ACountThatChangesIsToldSoonAndThenLessAndLessOften) {
  const Json gang = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "metadata": {"name": "gang", "namespace": "ns", "uid": "g"},
      "spec": {"workers": 200, "accelerator": {"resourceName": "nvidia.com/gpu", "perWorker": 8},
               "podSelector": {"matchLabels": {"app": "x"}}}})");
  ASSERT_TRUE(api_.Create(Kind::kPlacement, gang, false));
  leader_.See(Kind::kPlacement, {"ns", "gang"}, api_.At(Kind::kPlacement, "gang"));
  std::vector<UnixSeconds> told;
  std::string text;
  for (UnixSeconds second = 0; second < 180; ++second, ++now_) {
    api::Pod pod;
    pod.meta.key = {"ns", "p" + std::to_string(second)};
    pod.meta.labels.Set("app", "x");
    pod.meta.uid = pod.meta.key.name;
    pod.pod.requests = {{"nvidia.com/gpu", 8}};
    pod.scheduling_gates = {"weft.dev/placement"};
    leader_.store.Put(std::move(pod));
    Pass();
    const Json& placement = api_.At(Kind::kPlacement, "gang");
    leader_.See(Kind::kPlacement, {"ns", "gang"}, placement);
    const std::string now = placement["status"]["conditions"][0]["message"];
    if (now != text) told.push_back(second);
    text = now;
  }
  EXPECT_EQ(told, (std::vector<UnixSeconds>{0, 2, 6, 14, 30, 62, 122}));
  EXPECT_NE(text.find("matches 123 of 200 pods"), std::string::npos) << text;
}

TEST_F(PlannerTest, APlacementThatAnOperatorBeforeThisOneCreatedIsFilledIn) {
  const api::TrainingJob job = Enqueue("llama", 3);
  api_.fail_at = 2;
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  Pass();
  EXPECT_FALSE(api_.At(Kind::kPlacement, "llama-1").contains("status"));
  Leader next(api_, now_, events_);
  next.store.Put(job);
  next.planner.Enqueue(job);
  next.planner.Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "llama-1")["status"]["nodes"].size(), 3U);
  EXPECT_EQ(api_.counts.at("create Placement"), 1);
}

TEST_F(PlannerTest, AWriteThatTheServerRefusesIsToldAndKeepsNoNodesFromOthers) {
  const api::TrainingJob first = Enqueue("first", 6);
  Enqueue("second", 6);
  api_.refuse = [](Kind kind, const Json& object) -> std::optional<std::string> {
    const bool it = kind == Kind::kPlacement && object["metadata"]["name"] == "first-1";
    return it ? std::optional<std::string>("exceeded quota: count/placements") : std::nullopt;
  };
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(first));
  EXPECT_EQ(leader_.planner.RefusalOf(first)->reason, "NotWritten");
  EXPECT_NE(leader_.planner.RefusalOf(first)->message.find("exceeded quota"), std::string::npos);
  Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "second-1")["status"]["nodes"].size(), 6U);
}

// Nothing else may happen in the cluster that would wake the planner.
TEST_F(PlannerTest, ThoseBehindARefusedWriteArePlannedAtOnce) {
  Enqueue("first", 6);
  Enqueue("second", 6);
  api_.refuse = [](Kind kind, const Json& object) -> std::optional<std::string> {
    const bool it = kind == Kind::kPlacement && object["metadata"]["name"] == "first-1";
    return it ? std::optional<std::string>("exceeded quota") : std::nullopt;
  };
  std::thread planning([&] { leader_.planner.Run(); });
  for (int i = 0; i < 2'400; ++i) {
    if (api_.Get({Kind::kPlacement, {"ns", "second-1"}, "", ""})) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  leader_.planner.Stop();
  planning.join();
  EXPECT_TRUE(api_.Get({Kind::kPlacement, {"ns", "second-1"}, "", ""}));
}

TEST_F(PlannerTest, OneThatIsBeingDeletedGetsNoNodes) {
  const api::TrainingJob job = Enqueue("llama", 3);
  Json mine = PlacementOfJob(job, "1");
  mine["metadata"]["deletionTimestamp"] = FormatTime(now_);
  mine["metadata"]["finalizers"] = {"somebody/else"};
  ASSERT_TRUE(api_.Create(Kind::kPlacement, mine, false));
  for (int i = 0; i < 5; ++i) Pass();
  EXPECT_FALSE(api_.At(Kind::kPlacement, "llama-1").contains("status"));
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_NE(leader_.planner.RefusalOf(job)->message.find("is being deleted"), std::string::npos);
}

TEST_F(PlannerTest, OneOfNoAttemptGetsNoNodes) {
  const api::TrainingJob job = Enqueue("llama", 3);
  ASSERT_TRUE(api_.Create(Kind::kPlacement, PlacementOfJob(job, ""), false));
  Pass();
  EXPECT_FALSE(api_.At(Kind::kPlacement, "llama-1").contains("status"));
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_EQ(leader_.planner.RefusalOf(job)->reason, "NotWritten");
}

TEST_F(PlannerTest, AServerThatDoesNotAnswerCostsNobodyHisPlace) {
  Enqueue("first", 6);
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  for (int i = 0; i < 3; ++i) {
    api_.fail_at = api_.requests + 1;
    Pass();
  }
  Enqueue("second", 6);
  Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "first-1")["status"]["nodes"].size(), 6U);
}

TEST_F(PlannerTest, AWriteThatIsRefusedIsTriedLessAndLessOften) {
  Enqueue("first", 3);
  std::vector<UnixSeconds> tried;
  api_.refuse = [&](Kind, const Json&) -> std::optional<std::string> {
    tried.push_back(now_ - kStart);
    return "no";
  };
  for (; now_ < kStart + 1'000; ++now_) Pass();
  EXPECT_EQ(tried, (std::vector<UnixSeconds>{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811}));
  api_.refuse = [](Kind, const Json&) { return std::nullopt; };
  for (; now_ < kStart + 1'200; ++now_) Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "first-1")["status"]["nodes"].size(), 3U);
}

TEST_F(PlannerTest, APlacementOfThatNameWithAnotherOwnerIsARefusal) {
  const api::TrainingJob job = Enqueue("llama", 3);
  ASSERT_TRUE(api_.Create(Kind::kPlacement,
                          {{"apiVersion", "weft.dev/v1alpha1"},
                           {"kind", "Placement"},
                           {"metadata", {{"namespace", "ns"}, {"name", "llama-1"}}},
                           {"spec", {{"workers", 3}}}},
                          false));
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_NE(leader_.planner.RefusalOf(job)->message.find("already exists without its owner"),
            std::string::npos);
}

// Its Workload went between two reconciles.
TEST_F(PlannerTest, ARequestWithoutItsWorkloadIsDropped) {
  api::Placement wanted;
  wanted.meta.key = {"ns", "gone-1"};
  wanted.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "gone", "uid of gone", true}};
  leader_.planner.Enqueue("uid of gone@then", {wanted});
  const api::TrainingJob job = Enqueue("llama", 6);
  Pass();
  EXPECT_EQ(api_.At(Kind::kPlacement, "llama-1")["status"]["nodes"].size(), 6U);
  EXPECT_FALSE(leader_.planner.RefusalOf("uid of gone@then"));
}

// What its status says of an earlier leader's crashes is enough.
TEST_F(PlannerTest, AJobThatCrashedTheSolverTwiceIsRefusedAndTheOthersArePlaced) {
  const api::TrainingJob job = Enqueue("poison", 3);
  api::TrainingJob crashed = job;
  for (int i = 0; i < 2; ++i) plan::RecordCrash(crashed.conditions, 1, {"0.1.0", 11}, now_);
  leader_.store.Put(crashed);
  Enqueue("llama", 2);
  Enqueue("twin", 3);
  Pass();
  EXPECT_TRUE(api_.At(Kind::kPlacement, "llama-1")["status"].contains("nodes"));
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_EQ(leader_.planner.RefusalOf(job)->reason, "SolverFailed");
  EXPECT_FALSE(leader_.planner.RefusalOf(job)->ever);
  EXPECT_EQ(api_.counts.at("create Placement"), 1);
  // The leader remembers it.
  leader_.store.Remove<api::TrainingJob>({job.meta.key});
  const api::TrainingJob next = Enqueue("next", 3);
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(next));
  EXPECT_NE(leader_.planner.RefusalOf(next)->message.find("TrainingJob ns/poison"),
            std::string::npos);
}

// Its spec has changed, but it has crashed the solver often. The planner looks again by itself.
TEST_F(PlannerTest, AJobThatCrashedTheSolverOftenIsTriedAgainAfterAPause) {
  const api::TrainingJob job = Enqueue("poison", 3);
  api::TrainingJob crashed = job;
  for (int i = 0; i < 3; ++i) {
    plan::RecordCrash(crashed.conditions, 0, {"0.1.0", 11}, now_);
  }
  leader_.store.Put(crashed);
  Pass();
  ASSERT_TRUE(leader_.planner.RefusalOf(job));
  EXPECT_EQ(leader_.planner.RefusalOf(job)->reason, "SolverCrashed");
  EXPECT_TRUE(leader_.planner.RefusalOf(job)->ever);
  EXPECT_EQ(api_.requests, 0U);
  now_ += 60;
  Pass();
  EXPECT_TRUE(api_.At(Kind::kPlacement, "poison-1")["status"].contains("nodes"));
}

TEST_F(PlannerTest, NamesAllOfWhomItRemembersAnything) {
  CreateGang();
  leader_.See(Kind::kPlacement, {"ns", "gang"}, api_.At(Kind::kPlacement, "gang"));
  const std::string gang = api_.At(Kind::kPlacement, "gang")["metadata"]["uid"];
  leader_.planner.StorePrevious("uid of llama", {"n1"});
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  api_.fail_at = api_.requests + 1;
  Pass();
  EXPECT_EQ(leader_.planner.Requesters(), (std::set<std::string>{gang, "uid of llama"}));
  Pass();
  EXPECT_EQ(leader_.planner.Requesters(), std::set<std::string>{"uid of llama"});
  leader_.planner.Drop("uid of llama");
  EXPECT_TRUE(leader_.planner.Requesters().empty());
}

TEST_F(PlannerTest, APlacementKeepsTheRecordOfACrashOnItsFigures) {
  CreateGang();
  std::vector<api::Condition> conditions;
  plan::RecordCrash(conditions, 0, {"0.1.0", 11, plan::Solving::kFigures}, now_);
  api_.Edit(Kind::kPlacement, "gang", [&](Json& stored) {
    stored["metadata"]["generation"] = 0;
    stored["status"]["conditions"] = api::EncodeConditions(conditions);
  });
  leader_.See(Kind::kPlacement, {"ns", "gang"}, api_.At(Kind::kPlacement, "gang"));
  Pass();
  const Json& status = api_.At(Kind::kPlacement, "gang")["status"];
  EXPECT_EQ(status["nodes"].size(), 1U);
  EXPECT_EQ(status["conditions"].back()["type"], "FiguresFailed");
}

// The next pass would throw again, and nobody would get nodes. Lack of memory passes.
TEST_F(PlannerTest, AnExceptionInTheSolverEndsTheProcessButLackOfMemoryDoesNot) {
  const api::TrainingJob job = Enqueue("llama", 3);
  Log log{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  watch::FabricCache cache;
  Planner::Options options;
  options.now = [this] { return now_; };
  bool named = false;
  options.deciding = [&](const cluster::WorkloadView* workload, plan::Solving) {
    named = workload != nullptr;
    if (named) throw std::bad_alloc();
  };
  Planner starved(leader_.store, cache, api_, log, options);
  starved.Enqueue(job);
  EXPECT_THROW(starved.Pass(), std::bad_alloc);
  EXPECT_FALSE(named);
  options.deciding = [](const cluster::WorkloadView* workload, plan::Solving) {
    if (workload != nullptr) throw std::logic_error("a bug");
  };
  Planner broken(leader_.store, cache, api_, log, options);
  broken.Enqueue(job);
  EXPECT_EXIT(broken.Pass(), ::testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace weft::controllers
