#include "operator/launch/objects.h"

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

TEST(MakePodTest, NamesAndHostNamesSortAsRanksDo) {
  const api::TrainingJob job = Job("{}");
  const Json pod = MakePod(job, {.attempt = 3, .index = 7, .node = "n7"});
  EXPECT_EQ(pod["metadata"]["name"], "llama-3-07");
  EXPECT_EQ(pod["spec"]["hostname"], "llama-07");
  EXPECT_EQ(pod["spec"]["subdomain"], "llama");
  EXPECT_EQ(pod["spec"]["restartPolicy"], "Never");
}

TEST(MakePodTest, CarriesItsOwnLabelsWhateverTheTemplateSays) {
  const Json labels =
      MakePod(Job("{}"), {.attempt = 3, .index = 7, .node = "n7"})["metadata"]["labels"];
  EXPECT_EQ(labels, Json::parse(R"({"app": "x", "weft.dev/job-name": "llama",
    "weft.dev/job-uid": "u1", "weft.dev/attempt": "3", "weft.dev/worker-index": "7"})"));
}

TEST(MakePodTest, APodWithoutAffinityIsTiedByOneTerm) {
  const Json pod = MakePod(Job("{}"), {.attempt = 1, .index = 0, .node = "n7"});
  EXPECT_EQ(pod["spec"]["affinity"], Json::parse(R"({"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]}]}}})"));
}

TEST(MakePodTest, EveryTermOfTheTemplateIsTied) {
  const api::TrainingJob job = Job(R"({"affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
      {"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}}}})");
  const Json pod = MakePod(job, {.attempt = 1, .index = 0, .node = "n7"});
  const Json& terms = pod["spec"]["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2U);
  for (const Json& term : terms) {
    EXPECT_EQ(term["matchFields"][0]["values"], Json::array({"n7"}));
    EXPECT_EQ(term["matchExpressions"].size(), 1U);
  }
}

TEST(MakePodTest, TheTemplatesVariablesFollowWeftsOwn) {
  const Json pod = MakePod(Job("{}"), {.attempt = 2, .index = 3, .node = "n7"});
  const Json& env = pod["spec"]["containers"][0]["env"];
  EXPECT_EQ(env.back(), (Json{{"name", "OWN"}, {"value", "$(WEFT_NODE)"}}));
  Json values = Json::object();
  for (const Json& variable : env) values[variable["name"].get<std::string>()] = variable["value"];
  EXPECT_EQ(values["WEFT_WORKER_INDEX"], "3");
  EXPECT_EQ(values["WEFT_FIRST_RANK"], "24");
  EXPECT_EQ(values["WEFT_WORLD_SIZE"], "96");
  EXPECT_EQ(values["WEFT_NODE"], "n7");
  EXPECT_EQ(values["WEFT_MASTER_ADDR"], "llama-00.llama");
}

TEST(MakeServiceTest, IsHeadlessAndAnswersBeforeReadiness) {
  const Json service = MakeService(Job("{}"));
  EXPECT_EQ(service["metadata"]["name"], "llama");
  EXPECT_EQ(service["spec"], Json::parse(R"({"clusterIP": "None", "publishNotReadyAddresses": true,
    "selector": {"weft.dev/job-uid": "u1"}})"));
}

}  // namespace
}  // namespace weft::launch
