#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/controllers/job_controller.h"
#include "operator/watch/fabric_cache.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

class Silent final : public Recorder {
 public:
  void Record(const Happening&) override {}
};

// An API server that keeps at most one Service, and the order of the writes about it.
class FakeServer final : public ApiWriter {
 public:
  Result<Json> Create(Kind kind, const Json& object, bool) override {
    if (kind != Kind::kService) return Unused();
    const std::string attempt = object["spec"]["selector"].value("weft.dev/attempt", "any");
    if (!service.is_null()) return Error{ErrorKind::kConflict, "exists"};
    writes.push_back("create Service of attempt " + attempt);
    service = object;
    service["metadata"].update({{"uid", "s-new"}, {"resourceVersion", "9"}});
    return service;
  }
  Result<Json> Get(const Target&) override { return service; }
  Result<Json> Patch(const Target&, const Json&) override { return Unused(); }
  Result<Json> PatchExactly(const Target&, const Json&) override { return Unused(); }
  Result<Json> PatchStatus(const Target&, const Json&) override {
    writes.push_back("status");
    return Unused();
  }
  Status Delete(const Target& target) override {
    if (target.kind == Kind::kPlacement) {
      writes.push_back("delete Placement " + target.key.name);
      return {};
    }
    writes.push_back("delete Service " + target.uid);
    if (!service.is_null() && service["metadata"]["uid"] == target.uid) service = nullptr;
    return {};
  }
  Status Evict(const Target&) override { return Unused(); }

  Json service;
  std::vector<std::string> writes;

 private:
  static Error Unused() { return {ErrorKind::kInvalid, "not to be called"}; }
};

Json Owners() {
  return Json::parse(R"([{"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "name": "j",
                          "uid": "u1", "controller": true}])");
}

Json ServiceOf(const std::string& attempt, const Json& owners = Owners()) {
  Json service = {{"metadata",
                   {{"name", "j"},
                    {"namespace", "ns"},
                    {"uid", "s-old"},
                    {"resourceVersion", "3"},
                    {"labels", {{"weft.dev/job-uid", "u1"}}},
                    {"ownerReferences", owners}}}};
  if (!attempt.empty()) service["metadata"]["labels"]["weft.dev/attempt"] = attempt;
  return service;
}

class JobServiceTest : public ::testing::Test {
 protected:
  // A job of one worker whose attempt has its pods; `conditions` say how far it is.
  void Put(int attempt, const Json& conditions, bool with_pod) {
    const std::string number = std::to_string(attempt);
    Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "j", "namespace": "ns", "uid": "u1", "resourceVersion": "5",
                   "generation": 1, "finalizers": ["weft.dev/claims"]},
      "spec": {"accelerator": {"perWorker": 8}, "framework": {"type": "Custom"},
               "workers": {"replicas": 1, "template": {"spec": {"containers": [
                 {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
    job["status"] = {{"observedGeneration", 1}, {"attempt", attempt}, {"conditions", conditions}};
    store_.Put(*api::DecodeTrainingJob(job, "test"));
    const Json labels = {{"weft.dev/job-name", "j"},
                         {"weft.dev/job-uid", "u1"},
                         {"weft.dev/attempt", number},
                         {"weft.dev/worker-index", "0"}};
    Json placement = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "spec": {"workers": 1, "accelerator": {"perWorker": 8}}, "status": {"nodes": ["n0"]}})");
    placement["metadata"] = {{"name", "j-" + number}, {"namespace", "ns"},
                             {"uid", "p" + number},   {"resourceVersion", "6"},
                             {"labels", labels},      {"ownerReferences", Owners()}};
    store_.Put(*api::DecodePlacement(placement, "test"));
    if (!with_pod) return;
    Json pod = Json::parse(R"({"spec": {"containers": [{"name": "c"}]},
                               "status": {"phase": "Pending"}})");
    pod["metadata"] = {{"name", "j-" + number + "-0"},
                       {"namespace", "ns"},
                       {"uid", "pod"},
                       {"resourceVersion", "7"},
                       {"labels", labels},
                       {"ownerReferences", Owners()},
                       {"creationTimestamp", "2027-01-15T08:00:00Z"}};
    store_.Put(*api::DecodePod(pod, "test"));
  }

  void PutService(const Json& service) {
    server_.service = service;
    store_.Put(watch::Service{*api::DecodeMetadata(service, "test")});
  }

  static Json Condition(const char* type, const char* status, const char* reason) {
    return {{"type", type},
            {"status", status},
            {"reason", reason},
            {"message", "m"},
            {"lastTransitionTime", "2027-01-15T08:00:00Z"}};
  }
  static Json Creating() {
    return {Condition("Accepted", "True", "Valid"), Condition("Placed", "True", "Placed"),
            Condition("PodsReady", "False", "Creating")};
  }

  UnixSeconds now_ = 1'800'000'000;  // 2027-01-15T08:00:00Z
  watch::Store store_{[this] { return now_; }};
  FakeServer server_;
  Silent recorder_;
  Log log_{{LogLevel::kError, true, [](const std::string&) {}, [] { return ""; }}};
  watch::FabricCache cache_;
  Planner planner_{store_, cache_, server_, log_, {}};
  JobController controller_{store_, server_, planner_, recorder_, log_, Options()};

 private:
  JobController::Options Options() {
    JobController::Options options;
    options.now = [this] { return now_; };
    return options;
  }
};

TEST_F(JobServiceTest, TheServiceOfAnEarlierAttemptIsReplaced) {
  Put(2, Creating(), true);
  PutService(ServiceOf("1"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes,
            (std::vector<std::string>{"delete Service s-old", "create Service of attempt 2"}));
}

TEST_F(JobServiceTest, OneThatIsStillBeingDeletedIsWaitedFor) {
  Put(2, Creating(), true);
  Json going = ServiceOf("1");
  going["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z";
  PutService(going);
  const auto outcome = controller_.Reconcile({"ns", "j"});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kTransient);
  EXPECT_EQ(server_.writes, std::vector<std::string>());
}

TEST_F(JobServiceTest, SomebodyElsesIsLeftAlone) {
  Put(2, Creating(), true);
  server_.service = ServiceOf("1", Json::array());
  server_.service["metadata"]["labels"] = {{"app", "j"}};
  EXPECT_FALSE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes, std::vector<std::string>{"status"});  // that says so
}

// The operator's own have no owner, so that no garbage collector deletes them too early.
TEST_F(JobServiceTest, OneWithTheJobsLabelIsItsOwn) {
  Put(2, Creating(), true);
  Json service = ServiceOf("2", Json::array());
  server_.service = service;
  ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_TRUE(store_.ObjectsOf({"ns", "j"})->service);
  EXPECT_EQ(server_.writes, std::vector<std::string>());
}

TEST_F(JobServiceTest, OneOfAnEarlierJobOfThatNameIsReplaced) {
  Put(1, Creating(), true);
  Json service = ServiceOf("1", Json::array());
  service["metadata"]["labels"] = {{"weft.dev/job-uid", "u0"}, {"weft.dev/job-name", "j"}};
  server_.service = service;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes,
            (std::vector<std::string>{"delete Service s-old", "create Service of attempt 1"}));
}

TEST_F(JobServiceTest, AtTheEndOfTheJobItGoes) {
  Json conditions = Creating();
  conditions.push_back(Condition("Complete", "True", "Succeeded"));
  Put(1, conditions, false);
  PutService(ServiceOf("1", Json::array()));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes, std::vector<std::string>{"delete Service s-old"});
}

// Until the next attempt has its own, no name leads to what an attempt leaves behind.
TEST_F(JobServiceTest, GoesWithItsAttemptAndBeforeThePlacement) {
  Json conditions = Creating();
  conditions.push_back(Condition("Restarting", "True", "NodeLost"));
  Put(1, conditions, false);
  PutService(ServiceOf("1"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes,
            (std::vector<std::string>{"delete Service s-old", "delete Placement j-1"}));
}

// Its name is taken by somebody else, while the job runs: its workers are counted all the same.
TEST_F(JobServiceTest, AJobThatRunsGoesOnWithoutIt) {
  Put(1,
      {Condition("Accepted", "True", "Valid"), Condition("Placed", "True", "Placed"),
       Condition("PodsReady", "True", "PodsReady")},
      true);
  server_.service = ServiceOf("1", Json::array());
  server_.service["metadata"]["labels"] = {{"app", "j"}};
  EXPECT_FALSE(controller_.Reconcile({"ns", "j"}));
  const auto paused = controller_.Reconcile({"ns", "j"});
  ASSERT_FALSE(paused);  // the fake takes no status
  EXPECT_EQ(server_.writes, (std::vector<std::string>{"status", "status", "status"}));
  server_.writes.clear();
  now_ += 60;
  server_.service = nullptr;
  EXPECT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes, std::vector<std::string>{"create Service of attempt 1"});
}

// Policies keep Weft from deleting it, and the job must not wait for that.
TEST_F(JobServiceTest, APodThatOnlyNamesTheJobAsItsOwnerIsNotItsPod) {
  Json conditions = Creating();
  conditions.push_back(Condition("Restarting", "True", "NodeLost"));
  Put(1, conditions, false);
  Json pod = Json::parse(R"({"spec": {"containers": [{"name": "c"}]},
                             "status": {"phase": "Running"}})");
  pod["metadata"] = {{"name", "guest"},
                     {"namespace", "ns"},
                     {"uid", "guest"},
                     {"resourceVersion", "7"},
                     {"ownerReferences", Owners()}};
  store_.Put(*api::DecodePod(pod, "test"));
  ASSERT_TRUE(controller_.Reconcile({"ns", "j"}));
  EXPECT_EQ(server_.writes, std::vector<std::string>{"delete Placement j-1"});
}

}  // namespace
}  // namespace weft::controllers
