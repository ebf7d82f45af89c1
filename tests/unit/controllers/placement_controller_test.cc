#include "operator/controllers/placement_controller.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/decode.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

class Silent final : public Recorder {
 public:
  void Record(const Happening&) override {}
};

// An API server of a few objects; keeps the order of writes.
class FakeServer final : public ApiWriter {
 public:
  Result<Json> Create(Kind, const Json&, bool) override { return Unused(); }
  Result<Json> Get(const Target&) override { return Unused(); }
  Result<Json> GetOwner(const api::OwnerReference& owner, const std::string&) override {
    ++asked;
    if (!job.contains("metadata")) return Error{ErrorKind::kNotFound, owner.name + " is gone"};
    return job;
  }
  Result<Json> PatchExactly(const Target&, const Json&) override { return Unused(); }
  Status Delete(const Target&) override { return Unused(); }
  Result<Json> Patch(const Target& target, const Json& patch) override {
    return Merge(target, patch, "ungate ");
  }
  Result<Json> PatchStatus(const Target& target, const Json& patch) override {
    return Merge(target, patch, "status ");
  }
  Status Evict(const Target& target) override {
    writes.push_back("evict " + target.key.name);
    objects.erase(target.key.name);
    return {};
  }

  std::map<std::string, Json> objects;  // by name
  std::set<std::string> refused;        // names whose next write fails
  std::vector<std::string> writes;
  Json job;  // of the pods
  int asked = 0;
  bool prunes = false;

 private:
  static Error Unused() { return {ErrorKind::kInvalid, "not to be called"}; }

  Result<Json> Merge(const Target& target, const Json& patch, const char* what) {
    const std::lock_guard lock(mutex_);
    Json& object = objects.at(target.key.name);
    if (object["metadata"]["resourceVersion"] != target.resource_version) {
      return Error{ErrorKind::kConflict, "changed"};
    }
    if (refused.erase(target.key.name) > 0) return Error{ErrorKind::kTransient, "refused"};
    writes.push_back(what + target.key.name);
    object.merge_patch(patch);
    if (prunes) {
      object["status"].erase("completedIndexes");
      object["status"].erase("completedJob");
    }
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    return object;
  }

  std::mutex mutex_;
  int version_ = 100;
};

class PlacementControllerTest : public ::testing::Test {
 protected:
  PlacementControllerTest() {
    server_.objects["gang"] = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "metadata": {"name": "gang", "namespace": "ns", "uid": "g1", "resourceVersion": "1"},
      "spec": {"workers": 2, "accelerator": {"perWorker": 8},
               "podSelector": {"matchLabels": {"app": "x"}}},
      "status": {"nodes": ["n0", "n1"], "spans": [{"level": "leaf", "domains": 1}]}})");
    for (const char* name : {"p-0", "p-1"}) {
      server_.objects[name] = Json::parse(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "ns", "resourceVersion": "1", "labels": {"app": "x"},
                     "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j",
                                          "uid": "j1", "controller": true}]},
        "spec": {"schedulingGates": [{"name": "weft.dev/placement"}],
                 "containers": [{"name": "c"}]},
        "status": {"phase": "Pending"}})");
      server_.objects[name]["metadata"]["name"] = name;
      server_.objects[name]["metadata"]["uid"] = name;
    }
    for (const char* name : {"n0", "n1"}) {
      api::Node node;
      node.meta.key.name = node.facts.name = name;
      store_.Put(std::move(node));
    }
    Watch();
  }

  // What the watches tell.
  void Watch() {
    for (const auto& [name, object] : server_.objects) {
      if (object["kind"] == "Pod") {
        store_.Put(*api::DecodePod(object, "test"));
      } else {
        store_.Put(*api::DecodePlacement(object, "test", api::Reading::kServed));
      }
    }
  }

  // The gang has no nodes yet; of its two workers one has succeeded, and its pod is gone.
  void ForgetSecondPod() {
    server_.objects["gang"].erase("status");
    server_.objects["gang"]["metadata"]["resourceVersion"] = "2";
    store_.Remove<api::Pod>({{"ns", "p-1"}, "p-1"});
    server_.objects.erase("p-1");
    Watch();
  }
  static Json JobOfTwo(const char* uid) {
    return {{"metadata", {{"uid", uid}}},
            {"spec", {{"completionMode", "Indexed"}, {"completions", 2}}},
            {"status", {{"completedIndexes", "1"}}}};
  }

  // Passes until one leaves nothing to do, or fails.
  Result<Outcome> Run() {
    for (int i = 0; i < 20; ++i) {
      const Result<Outcome> outcome = controller_.Reconcile({"ns", "gang"});
      if (!outcome || !outcome->again) return outcome;
    }
    return Error{ErrorKind::kTransient, "no rest"};
  }

  UnixSeconds now_ = 1'800'000'000;
  watch::Store store_{[this] { return now_; }};
  FakeServer server_;
  Silent recorder_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  PlacementController controller_{
      store_,
      server_,
      recorder_,
      log_,
      {.life = {}, .now = [this] { return now_; }, .writes_at_once = 1}};
};

using Words = std::vector<std::string>;

TEST_F(PlacementControllerTest, ASpecThatCannotBeReadIsToldOnceAndThePodsStayAsTheyAre) {
  Json& gang = server_.objects["gang"];
  gang["spec"]["workers"] = 3;  // than there are nodes
  gang["metadata"]["resourceVersion"] = "2";
  Watch();
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, Words{"status gang"});
  EXPECT_EQ(gang["status"]["nodes"].size(), 2U);
  EXPECT_EQ(gang["status"]["conditions"][0]["reason"], "Invalid");
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, Words{"status gang"});
  gang["spec"]["workers"] = 2;
  gang["metadata"]["resourceVersion"] = "102";
  Watch();
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes,
            (Words{"status gang", "status gang", "status gang", "ungate p-0", "ungate p-1"}));
  EXPECT_EQ(gang["status"]["conditions"][0]["reason"], "Valid");
}

TEST_F(PlacementControllerTest, TheWindowIsSaidBeforeTheFirstGateGoes) {
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, (Words{"status gang", "ungate p-0", "ungate p-1"}));
  const Json& pod = server_.objects["p-1"];
  EXPECT_EQ(pod["spec"]["schedulingGates"], Json::array());
  EXPECT_EQ(pod["metadata"]["annotations"]["weft.dev/worker-index"], "1");
  EXPECT_NE(pod["spec"]["affinity"].dump().find("n1"), std::string::npos);
}

TEST_F(PlacementControllerTest, APlacementThatChangedMeanwhileLeavesThePodsAlone) {
  server_.objects["gang"]["metadata"]["resourceVersion"] = "2";
  const Result<Outcome> outcome = Run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(server_.writes, Words{});
}

TEST_F(PlacementControllerTest, AJobThatIsShortOfPodsIsAskedLessAndLessOftenAndRemembered) {
  ForgetSecondPod();
  Result<Outcome> outcome = Run();  // the Job is gone
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->seconds, 60);
  EXPECT_EQ(server_.asked, 1);
  now_ += 59;
  EXPECT_EQ(Run()->seconds, 1);
  EXPECT_EQ(server_.asked, 1);
  now_ += 1;
  server_.job = JobOfTwo("j2");
  EXPECT_EQ(Run()->seconds, 120);  // another one of that name
  EXPECT_EQ(server_.writes, std::vector<std::string>());
  now_ += 120;
  server_.job = JobOfTwo("j1");
  EXPECT_EQ(Run()->seconds, std::nullopt);
  EXPECT_EQ(server_.writes, std::vector<std::string>{"status gang"});
  EXPECT_EQ(server_.objects["gang"]["status"]["completedIndexes"], "1");
  EXPECT_EQ(server_.objects["gang"]["status"]["completedJob"], "j1");
  EXPECT_EQ(server_.asked, 3);
}

// A CRD of an earlier release drops what it does not know.
TEST_F(PlacementControllerTest, WhatIsNotKeptIsNotWrittenAgainAndAgain) {
  ForgetSecondPod();
  server_.prunes = true;
  server_.job = JobOfTwo("j1");
  EXPECT_EQ(Run()->seconds, 60);
  EXPECT_EQ(server_.writes.size(), 1U);
}

TEST_F(PlacementControllerTest, APodThatIsRefusedIsTriedAgainAloneInTheNextPass) {
  server_.refused = {"p-1"};
  EXPECT_FALSE(Run());
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, (Words{"status gang", "ungate p-0", "ungate p-1"}));
}

TEST_F(PlacementControllerTest, EvictsUnschedulablePodsAndReleasesNodesAfterTheBindDeadline) {
  ASSERT_TRUE(Run());
  for (const char* name : {"p-0", "p-1"}) {
    Json& pod = server_.objects[name];
    pod["status"]["conditions"] = Json::parse(
        R"([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
             "message": "0/2 nodes are available"}])");
    pod["metadata"]["resourceVersion"] = "1000";
  }
  Watch();
  now_ += 3600;
  server_.writes.clear();
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, (Words{"status gang", "evict p-0", "evict p-1"}));
  for (const char* name : {"p-0", "p-1"}) store_.Remove<api::Pod>({{"ns", name}});
  ASSERT_TRUE(Run());
  const Json& status = server_.objects["gang"]["status"];
  EXPECT_FALSE(status.contains("nodes"));
  EXPECT_FALSE(status.contains("spans"));
  EXPECT_EQ(status["excludedNodes"].size(), 2U);
  EXPECT_EQ(status["retry"]["times"], 1);
}

TEST_F(PlacementControllerTest, AJobsOwnPlacementIsNotItsBusiness) {
  server_.objects["gang"]["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "name": "j", "uid": "j1",
           "controller": true}])");
  server_.objects["gang"]["metadata"]["resourceVersion"] = "2";
  Watch();
  ASSERT_TRUE(Run());
  EXPECT_EQ(server_.writes, Words{});
}

}  // namespace
}  // namespace weft::controllers
