#include "operator/launch/workload.h"
#include "operator/launch/metadata.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/launch/objects.h"
#include "operator/launch/pin.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

api::TrainingJob QueuedJob() {
  const Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "llama", "namespace": "team-a", "uid": "u1",
                 "labels": {"kueue.x-k8s.io/queue-name": "gpus",
                            "kueue.x-k8s.io/max-exec-time-seconds": "3600"}},
    "spec": {"accelerator": {"perWorker": 8}, "framework": {"type": "Custom"},
             "workers": {"replicas": 12, "template": {
               "metadata": {"labels": {"app": "x"}},
               "spec": {"tolerations": [{"key": "own"}], "nodeSelector": {"own": "1"},
                 "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                   {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone",
                     "operator": "In", "values": ["a"]}]}]}}},
                 "containers": [{"name": "trainer", "image": "i",
                 "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})json");
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

Json TriedOf(const api::TrainingJob& job) {
  Gang gang;
  gang.job = &job;
  gang.nodes = {"none"};
  Json pod = MakePod(gang, WorkerIndex{0});
  pod["spec"]["priority"] = 7;
  pod["spec"]["priorityClassName"] = "training";
  pod["spec"]["containers"][0]["resources"]["requests"] = {{"cpu", "4"}};  // of a LimitRange
  return pod;
}

TEST(MakeWorkloadTest, AsksForAllWorkersAsAdmissionMakesThem) {
  const api::TrainingJob job = QueuedJob();
  const Json made = MakeWorkload(job, TriedOf(job), "none", {});
  const Json& meta = made["metadata"];
  EXPECT_TRUE(meta["name"].get<std::string>().starts_with("trainingjob-llama-"));
  EXPECT_EQ(meta["finalizers"], Json::array({"kueue.x-k8s.io/resource-in-use"}));
  EXPECT_EQ(meta["ownerReferences"], OwnedBy(job));
  const Json& spec = made["spec"];
  EXPECT_EQ(spec["queueName"], "gpus");
  EXPECT_EQ(spec["maximumExecutionTimeSeconds"], 3600);
  EXPECT_EQ(spec["priority"], 7);
  EXPECT_EQ(spec["priorityClassRef"]["kind"], "PriorityClass");
  EXPECT_EQ(spec["priorityClassRef"]["name"], "training");
  ASSERT_EQ(spec["podSets"].size(), 1U);
  const Json& set = spec["podSets"][0];
  EXPECT_EQ(set["name"], "workers");
  EXPECT_EQ(set["count"], 12);
  EXPECT_FALSE(set.contains("minCount"));
  const Json& pod = set["template"]["spec"];
  EXPECT_EQ(pod["containers"][0]["resources"]["requests"]["cpu"], "4");
  EXPECT_EQ(pod["affinity"], job.raw->at("spec")["workers"]["template"]["spec"]["affinity"]);
  EXPECT_FALSE(pod.contains("hostname"));
  EXPECT_FALSE(set["template"]["metadata"]["labels"].contains("weft.dev/worker-index"));
}

TEST(MakeWorkloadTest, AWorkloadPriorityClassComesBeforeThePods) {
  const api::TrainingJob job = QueuedJob();
  const Json spec = MakeWorkload(job, TriedOf(job), "none", {"urgent", 100})["spec"];
  EXPECT_EQ(spec["priority"], 100);
  EXPECT_EQ(spec["priorityClassRef"], Json::parse(R"({"group": "kueue.x-k8s.io",
      "kind": "WorkloadPriorityClass", "name": "urgent"})"));
}

TEST(MakeWorkloadTest, PodsGetWhatTheirQuotaAdds) {
  const api::TrainingJob job = QueuedJob();
  Gang gang;
  gang.job = &job;
  gang.nodes = {"n0"};
  gang.queue = std::make_shared<const Json>(Json::parse(R"({
      "name": "gpus", "clusterQueue": "all", "workload": "trainingjob-llama-1",
      "nodeSelector": {"gpu": "h100"}, "annotations": {"a": "1"}, "labels": {"l": "2"},
      "tolerations": [{"key": "own"}, {"key": "gpu", "operator": "Exists"}]})"));
  const Json pod = MakePod(gang, WorkerIndex{0});
  EXPECT_EQ(pod["spec"]["nodeSelector"], Json::parse(R"({"own": "1", "gpu": "h100"})"));
  EXPECT_EQ(pod["spec"]["tolerations"],
            Json::parse(R"([{"key": "own"}, {"key": "gpu", "operator": "Exists"}])"));
  EXPECT_EQ(pod["metadata"]["annotations"]["a"], "1");
  EXPECT_EQ(pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"], "trainingjob-llama-1");
  EXPECT_EQ(pod["metadata"]["labels"]["l"], "2");
  EXPECT_EQ(pod["metadata"]["labels"]["app"], "x");
  EXPECT_EQ(pod["metadata"]["labels"]["kueue.x-k8s.io/podset"], "workers");
}

TEST(UnpinTest, ATermThatWasOnlyThePinGoesWithItsAffinity) {
  Json spec = Json::object();
  PinTo("none", spec);
  Unpin("none", spec);
  EXPECT_EQ(spec, Json::object());
}

}  // namespace
}  // namespace weft::launch
