#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "operator/api/decode.h"

namespace weft::api {
namespace {

using nlohmann::json;

json Job(const json& spec, const json& status = json::object()) {
  json job = json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "x", "namespace": "team-a", "uid": "u1", "labels": {"a": "b"}},
      "spec": {"workers": {"replicas": 2, "template": {"spec": {
          "priorityClassName": "high",
          "containers": [{"name": "t", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}}}})");
  job["spec"].merge_patch(spec);
  job["status"] = status;
  return job;
}

TEST(DecodeTrainingJobTest, AbsentFieldsTakeTheirDefaults) {
  const auto job = DecodeTrainingJob(Job(json::object()), "jobs.yaml: document 2");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->place, "jobs.yaml: document 2: TrainingJob team-a/x");
  EXPECT_EQ(job->meta.key, (ObjectKey{"team-a", "x"}));
  EXPECT_EQ(job->meta.uid, "u1");
  EXPECT_FALSE(job->suspend);
  EXPECT_EQ(job->framework, Framework{});
  EXPECT_EQ(job->accelerator.resource_name, "nvidia.com/gpu");
  EXPECT_EQ(job->accelerator.per_worker, 4u);
  EXPECT_EQ(job->replicas, 2u);
  EXPECT_EQ(job->pod.requests, (fabric::Resources{{"nvidia.com/gpu", 4}}));
  EXPECT_EQ(job->priority_class_name, "high");
  EXPECT_EQ(job->model, std::nullopt);
  EXPECT_EQ(job->parallelism, traffic::Parallelism());
  EXPECT_EQ(job->startup_timeout_seconds, 900);
  EXPECT_EQ(job->failure_policy.infrastructure, "RestartUncounted");
  EXPECT_EQ(job->attempt, 0);
}

TEST(DecodeTrainingJobTest, AComputeDomainIsMadeByWeftOrClaimedByTheTemplate) {
  const json automatic = json::parse(R"({"topology": {"computeDomain": "Auto"}})");
  const auto job = DecodeTrainingJob(Job(automatic), "a");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->topology.compute_domain);
  EXPECT_TRUE(job->pod.claims_compute_domain);
  json both = automatic;
  both["workers"]["template"]["spec"]["resourceClaims"] =
      json::array({{{"name", "compute-domain-channel"}}});
  EXPECT_EQ(DecodeTrainingJob(Job(both), "a").error().message,
            "a: TrainingJob team-a/x: spec.topology.computeDomain: \"Auto\" must be absent if the "
            "template's resourceClaims name a ComputeDomain");
  EXPECT_FALSE(
      DecodeTrainingJob(Job(json::parse(R"({"topology": {"computeDomain": "Always"}})")), "a"));
}

TEST(DecodeTrainingJobTest, StatusIsReadWhateverElseItHolds) {
  const json status = json::parse(R"({"attempt": 2, "placementName": "x-2", "novel": 1,
      "conditions": [{"type": "Complete", "status": "True", "reason": "AllSucceeded"}]})");
  const auto job = DecodeTrainingJob(Job(json::object(), status), "a");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->attempt, 2);
  EXPECT_EQ(job->placement_name, "x-2");
  ASSERT_EQ(job->conditions.size(), 1u);
  EXPECT_EQ(job->conditions[0].type, "Complete");
}

struct Bad {
  std::string name;  // reads as a sentence
  std::string spec, want;
};

TEST(DecodeTrainingJobTest, ErrorsNameTheFieldAndTheRule) {
  const std::vector<Bad> cases = {
      {"replicas of 0 are too few", R"({"workers": {"replicas": 0}})",
       "spec.workers.replicas: 0 must be at least 1"},
      {"perWorker disagrees with the template", R"({"accelerator": {"perWorker": 8}})",
       "spec.accelerator.perWorker: 8 does not fit the template: the containers of the template "
       "are limited to 4 "
       "nvidia.com/gpu"},
      {"another accelerator than the template's is named",
       R"({"accelerator": {"resourceName": "amd.com/gpu"}})",
       "spec.accelerator.perWorker: is absent, and the containers of the template are limited to 0 "
       "amd.com/gpu; must be between 1 and 256"},
      {"a wrong framework member names both", R"({"framework": {"type": "MPI", "jax": {}}})",
       "spec.framework.jax: is not for type MPI"},
      {"a misspelt field is named", R"({"paralelism": {}})",
       "spec.paralelism: unknown field; did you mean parallelism?"},
      {"an enum lists what it takes", R"({"parallelism": {"sharding": "ZeRO"}})",
       "spec.parallelism.sharding: \"ZeRO\" must be one of None, OptimizerState, Gradients, Full, "
       "Hybrid"},
  };
  for (const Bad& c : cases) {
    const auto job = DecodeTrainingJob(Job(json::parse(c.spec)), "a");
    ASSERT_FALSE(job) << c.name;
    EXPECT_EQ(job.error().message, "a: TrainingJob team-a/x: " + c.want) << c.name;
    EXPECT_EQ(job.error().kind, ErrorKind::kInvalid) << c.name;
  }
}

TEST(DecodeTrainingJobTest, KeepsMetadataAndStatusOfAServedJobWithAnInvalidSpec) {
  const json status = json::parse(R"({"attempt": 2, "restarts": "many", "conditions": [
      {"type": "Complete", "status": "True", "reason": "AllSucceeded"}]})");
  const std::vector<Bad> cases = {
      {"a field of a newer release is no error", R"({"novel": 1, "topology": {"novel": 1}})", ""},
      {"a wrong field is named without the object's name", R"({"workers": {"replicas": 0}})",
       "spec.workers.replicas: 0 must be at least 1"},
      {"what does not divide is named too", R"({"parallelism": {"tensor": 3}})",
       "spec.parallelism: tensor x context x pipeline = 3 must divide the world of 8 ranks (2 "
       "workers x 4)"},
      {"no spec at all", R"({"workers": null})", "spec.workers: is required"},
  };
  for (const Bad& c : cases) {
    const auto job = DecodeTrainingJob(Job(json::parse(c.spec), status), "a", Reading::kServed);
    ASSERT_TRUE(job) << c.name << ": " << job.error().message;
    EXPECT_EQ(job->unreadable, c.want) << c.name;
    EXPECT_EQ(job->replicas, c.want.empty() ? 2u : 0u) << c.name;
    EXPECT_EQ(job->meta.uid, "u1") << c.name;
    EXPECT_EQ(job->attempt, 2) << c.name;
    ASSERT_EQ(job->conditions.size(), 1u) << c.name;
  }
  EXPECT_FALSE(DecodeTrainingJob(json::parse(R"({"metadata": 7})"), "a", Reading::kServed));
}

constexpr const char* kModelWithoutMicroBatch = R"("model": {"type": "Transformer", "transformer": {
    "parameters": 8030000000, "layers": 32, "hiddenSize": 4096, "attentionHeads": 32,
    "sequenceLength": 8192, "globalBatchSize": 512}})";

json ModelJob(const std::string& rest) {
  return Job(json::parse("{" + std::string(kModelWithoutMicroBatch) + ", " + rest + "}"));
}

TEST(DecodeTrainingJobTest, ABareModelNeedsNeitherWorkersNorAMicroBatch) {
  struct Case {
    std::string rest;
    std::uint32_t per_worker;
  };
  const std::vector<Case> cases = {
      {R"("workers": null)", 0},
      {R"("workers": null, "accelerator": {"perWorker": 2})", 2},
      {R"("workers": null, "parallelism": {"tensor": 3})", 0},  // nothing to divide
      {R"("workers": {"replicas": null})", 4},                  // the template's limit
  };
  for (const Case& c : cases) {
    const auto job = DecodeTrainingJob(ModelJob(c.rest), "a", Reading::kModel);
    ASSERT_TRUE(job) << c.rest << ": " << job.error().message;
    EXPECT_EQ(job->replicas, 0u) << c.rest;
    EXPECT_EQ(job->accelerator.per_worker, c.per_worker) << c.rest;
    EXPECT_EQ(job->model->transformer->micro_batch_size, 1) << c.rest;
    EXPECT_FALSE(DecodeTrainingJob(ModelJob(c.rest), "a")) << c.rest;
  }
}

TEST(DecodeTrainingJobTest, AllElseOfABareModelIsCheckedAsInAJob) {
  const std::vector<Bad> cases = {
      {"a job with workers is no bare model", R"("suspend": false)",
       "spec.model.transformer.microBatchSize: is required"},
      {"workers without a template are not complete", R"("workers": {"template": null})",
       "spec.workers.template: is required"},
      {"a misspelt field is named", R"("workers": {"replicas": null, "replica": 2})",
       "spec.workers.replica: unknown field; did you mean replicas?"},
  };
  for (const Bad& c : cases) {
    const auto job = DecodeTrainingJob(ModelJob(c.spec), "a", Reading::kModel);
    ASSERT_FALSE(job) << c.name;
    EXPECT_EQ(job.error().message, "a: TrainingJob team-a/x: " + c.want) << c.name;
  }
}

TEST(DecodeTrainingJobTest, RefusesValuesThatAreNotObjects) {
  for (const char* text : {"null", "7", "[]", "\"x\"", R"({"metadata": 7})",
                           R"({"metadata": {"name": "x"}, "spec": []})",
                           R"({"metadata": {"name": "x"}, "spec": {"workers": [1]}})"}) {
    EXPECT_FALSE(DecodeTrainingJob(json::parse(text), "a")) << text;
    EXPECT_FALSE(DecodePlacement(json::parse(text), "a")) << text;
    EXPECT_FALSE(DecodeFabric(json::parse(text), "a")) << text;
  }
}

}  // namespace
}  // namespace weft::api
