#include "operator/launch/objects.h"
#include "operator/launch/attempt_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

api::TrainingJob Job(const char* pod_spec_extra) {
  Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "llama", "namespace": "team-a", "uid": "u1"},
    "spec": {"accelerator": {"perWorker": 8}, "framework": {"type": "Custom"},
             "workers": {"replicas": 12, "template": {
               "metadata": {"labels": {"app": "x", "weft.dev/attempt": "99"}},
               "spec": {"containers": [{"name": "trainer", "image": "i",
                 "env": [{"name": "OWN", "value": "$(WEFT_NODE)"}],
                 "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})json");
  object["spec"]["workers"]["template"]["spec"].update(Json::parse(pod_spec_extra));
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

Gang GangOf(const api::TrainingJob& job, std::int64_t attempt) {
  Gang gang;
  gang.job = &job;
  gang.attempt = attempt;
  gang.placement_uid = "p1";
  for (std::uint32_t w = 0; w < job.replicas; ++w) gang.nodes.push_back("n" + std::to_string(w));
  return gang;
}

TEST(MakePodTest, NamesAndHostNamesSortAsRanksDo) {
  const api::TrainingJob job = Job("{}");
  const Json pod = MakePod(GangOf(job, 3), WorkerIndex{7});
  EXPECT_EQ(pod["metadata"]["name"], "llama-3-07");
  EXPECT_EQ(pod["spec"]["hostname"], "llama-07");
  EXPECT_EQ(pod["spec"]["subdomain"], "llama");
  EXPECT_EQ(pod["spec"]["restartPolicy"], "Never");
}

TEST(MakePodTest, CarriesItsOwnLabelsWhateverTheTemplateSays) {
  const api::TrainingJob job = Job("{}");
  const Json labels = MakePod(GangOf(job, 3), WorkerIndex{7})["metadata"]["labels"];
  EXPECT_EQ(labels, Json::parse(R"({"app": "x", "weft.dev/job-name": "llama",
    "weft.dev/job-uid": "u1", "weft.dev/attempt": "3", "weft.dev/worker-index": "7"})"));
}

TEST(MakePodTest, APodWithoutAffinityIsTiedByOneTerm) {
  const api::TrainingJob job = Job("{}");
  const Json pod = MakePod(GangOf(job, 1), WorkerIndex{7});
  EXPECT_EQ(pod["spec"]["affinity"], Json::parse(R"({"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]}]}}})"));
}

TEST(MakePodTest, EveryTermOfTheTemplateIsTied) {
  const api::TrainingJob job = Job(R"({"affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
      {"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}}}})");
  const Json pod = MakePod(GangOf(job, 1), WorkerIndex{0});
  const Json& terms = pod["spec"]["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2U);
  for (const Json& term : terms) {
    EXPECT_EQ(term["matchFields"][0]["values"], Json::array({"n0"}));
    EXPECT_EQ(term["matchExpressions"].size(), 1U);
  }
}

TEST(MakePodTest, TheTemplatesVariablesFollowWeftsOwn) {
  const api::TrainingJob job = Job("{}");
  const Json pod = MakePod(GangOf(job, 2), WorkerIndex{3});
  const Json& env = pod["spec"]["containers"][0]["env"];
  EXPECT_EQ(env.back(), (Json{{"name", "OWN"}, {"value", "$(WEFT_NODE)"}}));
  Json values = Json::object();
  for (const Json& variable : env) values[variable["name"].get<std::string>()] = variable["value"];
  EXPECT_EQ(values["WEFT_WORKER_INDEX"], "3");
  EXPECT_EQ(values["WEFT_FIRST_RANK"], "24");
  EXPECT_EQ(values["WEFT_WORLD_SIZE"], "96");
  EXPECT_EQ(values["WEFT_NODE"], "n3");
  EXPECT_EQ(values["WEFT_HOST"], "llama-03.llama");
  EXPECT_EQ(values["WEFT_MASTER_ADDR"], "llama-00.llama");
}

TEST(MakePodTest, FilesAndSharedMemoryAreInEveryContainer) {
  const api::TrainingJob job = Job(R"({"initContainers": [{"name": "fetch", "image": "i"}]})");
  const Json spec = MakePod(GangOf(job, 2), WorkerIndex{3})["spec"];
  EXPECT_EQ(spec["volumes"],
            Json::parse(R"([{"name": "weft", "configMap": {"name": "llama-2-weft"}},
    {"name": "weft-shm", "emptyDir": {"medium": "Memory"}}])"));
  const Json mounts = Json::parse(R"([
    {"name": "weft", "mountPath": "/etc/weft", "readOnly": true},
    {"name": "weft-shm", "mountPath": "/dev/shm"}])");
  EXPECT_EQ(spec["containers"][0]["volumeMounts"], mounts);
  EXPECT_EQ(spec["initContainers"][0]["volumeMounts"], mounts);
}

TEST(MakePodTest, SharedMemoryIsHalfOfWhatThePodMayUseAndTheTemplatesOwnStays) {
  const api::TrainingJob job = Job(R"({"containers": [
    {"name": "trainer", "image": "i",
     "resources": {"limits": {"nvidia.com/gpu": 8, "memory": "3Gi"}}},
    {"name": "loader", "image": "i", "resources": {"limits": {"memory": "1Gi"}},
     "volumeMounts": [{"name": "own", "mountPath": "/dev/shm"}]}]})");
  const Json spec = MakePod(GangOf(job, 1), WorkerIndex{0})["spec"];
  EXPECT_EQ(spec["volumes"][1]["emptyDir"]["sizeLimit"], "2147483648");
  EXPECT_EQ(spec["containers"][1]["volumeMounts"].size(), 2U);
  EXPECT_EQ(spec["containers"][1]["volumeMounts"][0]["name"], "own");
}

TEST(MakePodTest, TemplateVariablesOverrideTheFabrics) {
  const api::TrainingJob job = Job("{}");
  Gang gang = GangOf(job, 1);
  gang.fabric = {{"OWN", "theirs"}, {"NCCL_CROSS_NIC", "0"}};
  const Json env = MakePod(gang, WorkerIndex{0})["spec"]["containers"][0]["env"];
  EXPECT_EQ(env.back(), (Json{{"name", "OWN"}, {"value", "$(WEFT_NODE)"}}));
  EXPECT_EQ(env[env.size() - 2], (Json{{"name", "NCCL_CROSS_NIC"}, {"value", "0"}}));
}

TEST(MakeConfigMapTest, IsThePlacementsOwnAndNeverChanges) {
  const api::TrainingJob job = Job("{}");
  const Json map = MakeConfigMap(GangOf(job, 2));
  EXPECT_EQ(map["metadata"]["name"], "llama-2-weft");
  EXPECT_EQ(map["metadata"]["ownerReferences"], Json::parse(R"([
    {"apiVersion": "weft.dev/v1alpha1", "kind": "Placement", "name": "llama-2", "uid": "p1"}])"));
  EXPECT_TRUE(map["immutable"]);
  EXPECT_EQ(Json::parse(map["data"]["placement.json"].get<std::string>())["nodes"].size(), 12U);
}

TEST(MakeServiceTest, IsHeadlessAndAnswersBeforeReadinessForOneAttempt) {
  const Json service = MakeService(Job("{}"), 3);
  EXPECT_EQ(service["metadata"]["name"], "llama");
  // The garbage collector would delete it while the workers of a deleted job still store their
  // state.
  EXPECT_FALSE(service["metadata"].contains("ownerReferences"));
  EXPECT_EQ(service["spec"], Json::parse(R"({"clusterIP": "None", "publishNotReadyAddresses": true,
    "selector": {"weft.dev/job-uid": "u1", "weft.dev/attempt": "3"}})"));
  EXPECT_EQ(service["metadata"]["labels"]["weft.dev/attempt"], "3");
}

}  // namespace
}  // namespace weft::launch
