#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/job_controller.h"
#include "operator/watch/fabric_cache.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

class Silent final : public Recorder {
 public:
  void Record(const Happening&) override {}
};

// Takes statuses; counts dry runs, and admits them all unless `refuses`.
class FakeServer final : public ApiWriter {
 public:
  explicit FakeServer(Json job) : job_(std::move(job)) {}
  Result<Json> Create(Kind, const Json& object, bool) override {
    ++dry_runs;
    if (refuses) return Error{ErrorKind::kInvalid, "exceeded quota"};
    Json admitted = object;
    admitted.merge_patch(mutation);
    return admitted;
  }
  Result<Json> Get(const Target&) override { return Unused(); }
  Result<Json> Patch(const Target&, const Json&) override { return Unused(); }
  Result<Json> PatchExactly(const Target&, const Json&) override { return Unused(); }
  Result<Json> PatchStatus(const Target&, const Json& patch) override {
    status = patch["status"];
    job_.merge_patch(patch);
    return job_;
  }
  Status Delete(const Target&) override { return Unused(); }
  Status Evict(const Target&) override { return Unused(); }

  const Json& job() const { return job_; }

  Json status;
  Json mutation = Json::object();  // by admission, of every pod
  int dry_runs = 0;
  bool refuses = false;

 private:
  static Error Unused() { return {ErrorKind::kInvalid, "not to be called"}; }
  Json job_;
};

Json Job(const char* framework, int replicas) {
  Json job = Json::parse(R"({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "j", "namespace": "ns", "uid": "u1", "resourceVersion": "5",
                 "generation": 1, "finalizers": ["weft.dev/claims"]},
    "spec": {"suspend": true, "accelerator": {"perWorker": 8}, "workers": {"template": {"spec": {"containers": [
      {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
  job["spec"]["framework"]["type"] = framework;
  job["spec"]["workers"]["replicas"] = replicas;
  return job;
}

constexpr UnixSeconds kNow = 1'800'000'000;

// Reconciles a job that waits in suspension, where what a trial said is all that there is to write:
// four times at once, then every second.
void Reconcile(const Json& job, FakeServer& server, UnixSeconds seconds = 0) {
  UnixSeconds now = kNow;
  watch::Store store([&] { return now; });
  Silent recorder;
  Log log({LogLevel::kError, true, [](const std::string&) {}, [] { return ""; }});
  watch::FabricCache cache;
  Planner planner(store, cache, server, log, {});
  JobController::Options options;
  options.now = [&] { return now; };
  JobController controller(store, server, planner, recorder, log, options);
  store.Put(*api::DecodeTrainingJob(job, "test"));
  for (int pass = 0; pass < 4; ++pass) EXPECT_TRUE(controller.Reconcile({"ns", "j"}));
  for (; now < kNow + seconds; ++now) EXPECT_TRUE(controller.Reconcile({"ns", "j"}));
}

// The status of Accepted, its message, and how many dry runs it took.
std::string Accept(const Json& job) {
  FakeServer server(job);
  Reconcile(job, server);
  Json condition;
  for (const Json& one : server.status["conditions"]) {
    if (one["type"] == "Accepted") condition = one;
  }
  return condition["type"].get<std::string>() + "=" + condition["status"].get<std::string>() +
         ", dry runs " + std::to_string(server.dry_runs) + ": " +
         condition["message"].get<std::string>();
}

TEST(JobAccept, RecordsChangesByAdmissionInTheStatus) {
  const Json job = Job("Torch", 2);
  FakeServer server(job);
  server.mutation = Json::parse(R"({"spec": {"nodeSelector": {"pool": "x"}}})");
  Reconcile(job, server);
  const Json want = Json::parse(R"({"observedGeneration": 1, "nodeSelector": {"pool": "x"}})");
  EXPECT_EQ(server.job()["status"]["admission"], want);
  EXPECT_EQ(server.dry_runs, 1);
  // An admission that no longer changes anything is forgotten with the next generation.
  Json changed = server.job();
  changed["metadata"]["generation"] = 2;
  FakeServer plain(changed);
  Reconcile(changed, plain);
  EXPECT_FALSE(plain.job()["status"].contains("admission"));
}

TEST(JobAccept, AJobThatCanBeStartedIsTriedAndAccepted) {
  EXPECT_EQ(Accept(Job("Torch", 16'384)).substr(0, 27), "Accepted=True, dry runs 1: ");
  EXPECT_EQ(Accept(Job("TensorFlow", 1'000)).substr(0, 27), "Accepted=True, dry runs 1: ");
}

// Also where a leader whose clock is ahead has seen the first refusal, in this one's future: after
// 2, 4, 8, 16, 32, 64, 124, 184 and 244 s.
TEST(JobAccept, ARefusalIsTriedLessAndLessOften) {
  for (const UnixSeconds ahead : {0, 600}) {
    Json job = Job("Torch", 2);
    const std::string time = FormatTime(kNow + ahead);
    job["status"] = {{"observedGeneration", 1},
                     {"conditions",
                      {{{"type", "Accepted"},
                        {"status", "False"},
                        {"reason", "Refused"},
                        {"message", "exceeded quota"},
                        {"observedGeneration", 1},
                        {"lastTransitionTime", time}}}}};
    FakeServer server(job);
    server.refuses = true;
    Reconcile(job, server, 300);
    EXPECT_EQ(server.dry_runs, 10) << ahead;
  }
}

TEST(JobAccept, RefusesMoreWorkersThanTheFrameworksEnvironmentHolds) {
  EXPECT_EQ(Accept(Job("TensorFlow", 16'384)),
            "Accepted=False, dry runs 0: 16384 workers are too many for TensorFlow: the "
            "environment variable TF_CONFIG holds the address of every worker in at most 128 KiB, "
            "enough for 8186 with this job name");
}

}  // namespace
}  // namespace weft::controllers
