#include "operator/controllers/crash_report.h"

#include <gtest/gtest.h>

#include "operator/api/decode.h"
#include "tests/unit/controllers/fake_api.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

constexpr UnixSeconds kStart = 1'800'000'000;

class CrashReportTest : public ::testing::Test {
 protected:
  void Create(Kind kind, const std::string& text) {
    const Json object = Json::parse(text);
    api_.Apply(kind, object);
    if (!object["metadata"].contains("uid")) return;
    api_.Edit(kind, object["metadata"]["name"], [&](Json& stored) { stored = object; });
  }
  void CreateJob() {
    Create(Kind::kTrainingJob, R"({
        "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
        "metadata": {"name": "llama", "namespace": "ns", "uid": "u1", "generation": 4},
        "spec": {"later": "field"},
        "status": {"phase": "Pending", "attempt": 2, "conditions": [
            {"type": "Placed", "status": "False", "reason": "HeldBack", "message": "waits",
             "lastTransitionTime": "2027-01-15T07:00:00Z"}]}})");
  }
  // Tries again at most so often.
  Status Report(const plan::CrashSubject& subject, int retries = 0,
                plan::Solving solving = plan::Solving::kNodes) {
    return ReportCrash(api_, subject, {"0.1.0", 11, solving}, now_, [&] { return retries-- > 0; });
  }
  const Json& StatusOf(Kind kind, const char* name) { return api_.At(kind, name)["status"]; }

  UnixSeconds now_ = kStart;
  FakeApi api_{[this] { return now_; }};
  const plan::CrashSubject llama_{"TrainingJob", {"ns", "llama"}, "u1", 4};
};

TEST_F(CrashReportTest, AddsTheConditionAndChangesNothingElse) {
  CreateJob();
  Json wanted = StatusOf(Kind::kTrainingJob, "llama");
  for (const char* status : {"False", "True"}) {
    ASSERT_TRUE(Report(llama_));
    const Json now = StatusOf(Kind::kTrainingJob, "llama");
    ASSERT_EQ(now["conditions"].size(), 2U);
    const Json& failed = now["conditions"][1];
    EXPECT_EQ(failed["type"], "SolverFailed");
    EXPECT_EQ(failed["status"], status);
    EXPECT_EQ(failed["observedGeneration"], 4);
    Json rest = now;
    rest["conditions"].erase(1);
    EXPECT_EQ(rest, wanted);
  }
}

TEST_F(CrashReportTest, AlsoOfAPlacement) {
  Create(Kind::kPlacement, R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "metadata": {"name": "gang", "namespace": "ns", "uid": "p1", "generation": 1},
      "spec": {"workers": 2}})");
  for (int crash = 0; crash < 2; ++crash) {
    ASSERT_TRUE(Report({"Placement", {"ns", "gang"}, "p1", 1}));
  }
  const Json& failed = StatusOf(Kind::kPlacement, "gang")["conditions"][0];
  EXPECT_EQ(failed["reason"], "SolverFailed");
  EXPECT_EQ(failed["status"], "True");
}

TEST_F(CrashReportTest, TouchesNoOtherObjectOfTheName) {
  CreateJob();
  const Json before = StatusOf(Kind::kTrainingJob, "llama");
  const plan::CrashSubject wrong[] = {{"TrainingJob", {"ns", "llama"}, "u0", 4},
                                      {"TrainingJob", {"ns", "other"}, "u1", 4},
                                      {"Pod", {"ns", "llama"}, "u1", 4}};
  for (const plan::CrashSubject& subject : wrong) {
    EXPECT_FALSE(Report(subject)) << subject.kind << " " << subject.uid;
  }
  EXPECT_EQ(StatusOf(Kind::kTrainingJob, "llama"), before);
}

// It counts for the pause before the later spec is tried, and does not refuse it.
TEST_F(CrashReportTest, IsAlsoRecordedIfTheSpecHasChangedSince) {
  CreateJob();
  for (const std::int64_t generation : {2, 3}) {
    ASSERT_TRUE(Report({"TrainingJob", {"ns", "llama"}, "u1", generation}));
  }
  const Json& failed = StatusOf(Kind::kTrainingJob, "llama")["conditions"][1];
  EXPECT_EQ(failed["status"], "False");
  EXPECT_EQ(failed["observedGeneration"], 3);
  EXPECT_NE(failed["message"].get<std::string>().find("(crash 2 of"), std::string::npos) << failed;
}

TEST_F(CrashReportTest, OnFiguresHasAConditionOfItsOwn) {
  CreateJob();
  ASSERT_TRUE(Report(llama_));
  ASSERT_TRUE(Report(llama_, 0, plan::Solving::kFigures));
  const Json& conditions = StatusOf(Kind::kTrainingJob, "llama")["conditions"];
  EXPECT_EQ(conditions[1]["type"], "SolverFailed");
  EXPECT_EQ(conditions[1]["status"], "False");
  EXPECT_EQ(conditions[2]["type"], "FiguresFailed");
  EXPECT_EQ(conditions[2]["status"], "True");
}

// After a lost reply the crash is counted twice: the job is then refused one crash too early, which
// is better than never.
TEST_F(CrashReportTest, TriesAgainAsLongAsItMay) {
  CreateJob();
  api_.fault = FakeApi::Fault::kNotCarriedOut;
  for (const std::size_t fails : {1U, 2U}) {
    api_.requests = 0;
    api_.fail_at = fails;
    EXPECT_FALSE(Report(llama_, 0));
    api_.requests = 0;
    EXPECT_TRUE(Report(llama_, 1)) << fails;
  }
}

class CrashedWorkloadTest : public CrashReportTest {
 protected:
  void SetUp() override {
    Create(Kind::kAdmissionCheck, R"({
        "metadata": {"name": "place"}, "spec": {"controllerName": "weft.dev/placement"}})");
    Create(Kind::kAdmissionCheck, R"({
        "metadata": {"name": "budget"}, "spec": {"controllerName": "example.com/budget"}})");
  }
  void CreateWorkload(const std::string& check, const std::string& conditions = "[]") {
    Create(Kind::kWorkload, R"({
        "metadata": {"name": "job-llama", "namespace": "ns", "uid": "w1", "generation": 1},
        "spec": {"podSets": []},
        "status": {"conditions": )" +
                                conditions + R"(, "admissionChecks": [
            {"name": "budget", "state": "Ready", "message": "enough"}, )" +
                                check + "]}}");
  }
  const Json& Crash() {
    EXPECT_TRUE(Report({"Workload", {"ns", "job-llama"}, "w1", 0}));
    EXPECT_EQ(StatusOf(Kind::kWorkload, "job-llama")["admissionChecks"][0]["message"], "enough");
    return StatusOf(Kind::kWorkload, "job-llama")["admissionChecks"][1];
  }
};

// The next leader rejects it after the second (check.cc), and remembers why.
TEST_F(CrashedWorkloadTest, KeepsItsPlaceAndGetsTheRecord) {
  CreateWorkload(R"({"name": "place", "state": "Pending", "message": "no room"})");
  Json check = Crash();
  EXPECT_EQ(check["state"], "Pending");
  EXPECT_EQ(check["message"], "no room; " + plan::CrashText({"0.1.0", 11}, {false, 1, kStart}));
  check = Crash();
  EXPECT_EQ(check["state"], "Pending");
  EXPECT_EQ(check["message"], "no room; " + plan::CrashText({"0.1.0", 11}, {true, 2, kStart}));
}

TEST_F(CrashedWorkloadTest, StaysReadyOnceAdmitted) {
  CreateWorkload(
      R"({"name": "place", "state": "Ready", "message": "4 workers", "podSetUpdates": [
          {"name": "main", "labels": {"weft.dev/placement": "job-llama-x"}}]})",
      R"([{"type": "Admitted", "status": "True"}])");
  for (const bool again : {false, true}) {
    const Json check = Crash();
    EXPECT_EQ(check["state"], "Ready");
    EXPECT_EQ(check["message"],
              "4 workers; " + plan::CrashText({"0.1.0", 11}, {again, again ? 2 : 1, kStart}));
    EXPECT_EQ(check["podSetUpdates"][0]["labels"]["weft.dev/placement"], "job-llama-x");
  }
}

}  // namespace
}  // namespace weft::controllers
