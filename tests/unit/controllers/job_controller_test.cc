#include "operator/controllers/job_controller.h"

#include <algorithm>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class JobControllerTest : public ::testing::Test {
 protected:
  JobControllerTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      leader_.See(kind, key, object);
    };
    api_.Apply(Kind::kTrainingJob, JobObject("Torch"));
  }

  // Passes until two leave nothing to do, or one fails: the planner hears in the second of what
  // asked it in the first.
  Result<Outcome> Run() {
    int quiet = 0;
    for (int i = 0; i < 40; ++i) {
      const std::size_t before = api_.requests;
      leader_.planner.Pass();
      const Result<Outcome> outcome = leader_.jobs.Reconcile(kJob);
      quiet = outcome && !outcome->again && api_.requests == before ? quiet + 1 : 0;
      if (!outcome || quiet == 2) return outcome;
    }
    return Error{ErrorKind::kTransient, "no rest"};
  }
  std::ptrdiff_t Told(const std::string& reason) const {
    return std::count(events_.reasons.begin(), events_.reasons.end(), reason);
  }
  Json Status() const { return api_.At(Kind::kTrainingJob, "llama").value("status", Json()); }
  Json Condition(const std::string& type) const {
    const Json status = Status();
    for (const Json& one : status.value("conditions", Json::array())) {
      if (one["type"] == type) return one;
    }
    return Json();
  }

  UnixSeconds now_ = kStart;
  FakeApi api_{[this] { return now_; }};
  Events events_;
  Leader leader_{api_, now_, events_};
};

TEST_F(JobControllerTest, AJobThatIsPredictedNotToFitRunsWithAWarning) {
  for (int n = 0; n < 6; ++n) {
    api::Node node;
    node.meta.key.name = node.meta.uid = node.facts.name = "n" + std::to_string(n);
    node.facts.allocatable = {{"nvidia.com/gpu", 8}, {"pods", 110}};
    node.facts.conditions = {{"Ready", "True"}};
    node.facts.labels = {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}};
    leader_.store.Put(std::move(node));
  }
  api_.Edit(Kind::kTrainingJob, "llama", [](Json& job) {
    job["spec"]["model"] = Json::parse(R"({"type": "Transformer", "transformer": {
        "parameters": 70600000000, "layers": 80, "hiddenSize": 8192, "attentionHeads": 64,
        "sequenceLength": 8192, "microBatchSize": 1, "globalBatchSize": 48}})");
  });
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.CountOf(Kind::kPod), 3U);
  EXPECT_EQ(Condition("MemoryFits")["reason"], "DoesNotFit");
  EXPECT_EQ(Told("DoesNotFit"), 1);
}

TEST_F(JobControllerTest, APodNamesTheMachineThatItIsCreatedFor) {
  const std::string made = FormatTime(kStart - 100);
  api::Node node = *leader_.store.At<api::Node>({"", "n1"});
  node.meta.uid = "made at a known time";
  node.meta.creation_timestamp = made;
  leader_.store.Put(node);
  ASSERT_TRUE(Run());
  const auto named = [&](const char* pod) {
    return api_.At(Kind::kPod, pod)["metadata"]["annotations"].value("weft.dev/node-created", "");
  };
  EXPECT_EQ(named("llama-1-1"), made);
  EXPECT_EQ(named("llama-1-0"), "") << "of n0 it is not known";
}

TEST_F(JobControllerTest, TheMachinesThatAJobExcludesAreRemembered) {
  api_.Edit(Kind::kTrainingJob, "llama", [&](Json& job) {
    job["spec"]["workers"]["replicas"] = 6;
    job["status"]["excludedNodes"] = {
        {{"node", "n2"}, {"until", FormatTime(now_ + 300)}, {"times", 1}}};
  });
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  api::Node node = *leader_.store.At<api::Node>({"", "n2"});
  node.meta.uid = "n2 again";
  leader_.store.Put(node);
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.CountOf(Kind::kPod), 6U);
}

TEST_F(JobControllerTest, ARefusalOfPodsEndsTheAttemptAndIsToldOnce) {
  api_.refuse = [](Kind kind, const Json& object) -> std::optional<std::string> {
    const bool dry = object["metadata"]["name"].get<std::string>().starts_with("llama-0-");
    if (kind == Kind::kPod && !dry) return "exceeded quota: 8 GPUs";
    return std::nullopt;
  };
  ASSERT_TRUE(Run());
  EXPECT_EQ(Told("CreateRefused"), 1);
  EXPECT_EQ(api_.CountOf(Kind::kPod), 0U);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
  EXPECT_NE(Condition("Placed").dump().find("exceeded quota: 8 GPUs"), std::string::npos);
  // Nothing is asked of the server until it is time to try again.
  const std::size_t requests = api_.requests;
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.requests, requests);
  now_ += 3600;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Told("CreateRefused"), 2);
}

TEST_F(JobControllerTest, RefusesAJobThatAdmissionRejectsBeforePlacingIt) {
  api_.refuse = [](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind == Kind::kPod) return "hostPath is forbidden";
    return std::nullopt;
  };
  ASSERT_TRUE(Run());
  EXPECT_EQ(Condition("Accepted")["status"], "False");
  EXPECT_NE(Condition("Accepted").dump().find("hostPath is forbidden"), std::string::npos);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

TEST_F(JobControllerTest, AServiceOfSomebodyElseIsNotTaken) {
  api_.Apply(Kind::kService, {{"metadata", {{"name", "llama"}, {"namespace", "ns"}}}});
  const Json before = api_.At(Kind::kService, "llama");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Run());
  EXPECT_EQ(Told("CreateRefused"), 1);
  EXPECT_EQ(api_.At(Kind::kService, "llama"), before);
}

TEST_F(JobControllerTest, ARefusedServiceIsSaidOnceAndUntilItIsThere) {
  bool full = true;
  api_.refuse = [&](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind == Kind::kService && full) return "exceeded quota: services";
    return std::nullopt;
  };
  EXPECT_FALSE(Run());
  const Json told = Condition("Placed");
  EXPECT_EQ(told["status"], "True");
  EXPECT_EQ(told["reason"], "NotWritten");
  EXPECT_NE(told.dump().find("exceeded quota: services"), std::string::npos);
  EXPECT_EQ(Status()["reason"], "NotWritten");
  const Json version = api_.At(Kind::kTrainingJob, "llama")["metadata"]["resourceVersion"];
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Run());
  EXPECT_EQ(api_.At(Kind::kTrainingJob, "llama")["metadata"]["resourceVersion"], version);
  full = false;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Condition("Placed")["reason"], "Placed");
  EXPECT_EQ(Condition("Placed").dump().find("exceeded quota"), std::string::npos);
  EXPECT_EQ(Told("NotWritten"), 1);
  EXPECT_EQ(Told("Placed"), 1);
}

TEST_F(JobControllerTest, AWriteThatFailsForTenSecondsIsSaidOfAJobWithNodesToo) {
  api_.webhook_down = {Kind::kService};
  EXPECT_FALSE(Run());
  now_ += 9;
  EXPECT_FALSE(Run());
  EXPECT_EQ(Condition("Placed")["reason"], "Placed");
  now_ += 1;
  EXPECT_FALSE(Run());
  EXPECT_EQ(Condition("Placed")["reason"], "NotWritten");
  EXPECT_NE(Condition("Placed").dump().find("500: no webhook"), std::string::npos);
  api_.webhook_down.clear();
  ASSERT_TRUE(Run());
  EXPECT_EQ(Condition("Placed")["reason"], "Placed");
}

TEST_F(JobControllerTest, AnEditThatCannotBeReadChangesOneConditionAndNothingElse) {
  ASSERT_TRUE(Run());
  Json want = Status();
  const auto counts = api_.counts;
  api_.Edit(Kind::kTrainingJob, "llama",
            [](Json& job) { job["spec"]["accelerator"]["perWorker"] = 4; });
  ASSERT_TRUE(Run());
  EXPECT_EQ(Condition("Accepted")["reason"], "Invalid");
  EXPECT_NE(Condition("Accepted").dump().find("spec.accelerator.perWorker"), std::string::npos);
  EXPECT_EQ(Told("Invalid"), 1);
  Json is = Status();
  for (Json* status : {&want, &is}) {
    for (const char* part : {"observedGeneration", "phase", "reason"}) status->erase(part);
    auto& conditions = (*status)["conditions"];
    conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                    [](const Json& one) { return one["type"] == "Accepted"; }),
                     conditions.end());
  }
  EXPECT_EQ(is, want);
  // Said once, and followed again where it is put right.
  const std::size_t requests = api_.requests;
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.requests, requests);
  api_.Edit(Kind::kTrainingJob, "llama",
            [](Json& job) { job["spec"]["accelerator"]["perWorker"] = 8; });
  ASSERT_TRUE(Run());
  EXPECT_EQ(Condition("Accepted")["status"], "True");
  EXPECT_EQ(api_.counts, counts);
}

TEST_F(JobControllerTest, AJobThatCannotBeReadCanBeDeleted) {
  ASSERT_TRUE(Run());
  api_.Edit(Kind::kTrainingJob, "llama",
            [](Json& job) { job["spec"]["accelerator"]["perWorker"] = 4; });
  api_.DeleteByUser(Kind::kTrainingJob, "llama");
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.CountOf(Kind::kTrainingJob), 0U);
  EXPECT_EQ(api_.CountOf(Kind::kPod), 0U);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

}  // namespace
}  // namespace weft::controllers
