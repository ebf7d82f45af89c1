#include "operator/life/admission.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

// A worker as Weft sends it, pinned to the node "none".
Json Sent() {
  return Json::parse(R"({"kind": "Pod", "metadata": {"name": "p"}, "spec": {
    "nodeSelector": {"pool": "a"},
    "tolerations": [{"key": "own", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
      "nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["none"]}]}]}}},
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": 8}}}]}})");
}

// status.admission after a mutation of the pod; null if nothing counts.
Json After(const Json& patch) {
  Json tried = Sent();
  tried.merge_patch({{"spec", patch}});
  const auto before = api::DecodePod(Sent(), "sent"), after = api::DecodePod(tried, "tried");
  EXPECT_TRUE(before && after);
  const auto changed = AdmissionOf(*before, *after, "none");
  return changed ? Json(api::EncodeAdmission(*changed)) : Json();
}

TEST(AdmissionOf, IsNothingForDefaultsThatEveryPodGets) {
  EXPECT_EQ(After(Json::object()), Json());
  EXPECT_EQ(After(Json::parse(R"({"serviceAccountName": "default", "tolerations": [
      {"key": "own", "operator": "Exists"},
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
       "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
       "tolerationSeconds": 300}]})")),
            Json());
}

TEST(AdmissionOf, IsWhatTheChoiceOfNodesDependsOn) {
  EXPECT_EQ(After(Json::parse(R"({"overhead": {"cpu": "500m"}})")),
            Json::parse(R"({"observedGeneration": 0,
                            "requests": {"cpu": "1500m", "nvidia.com/gpu": "8"}})"));
  EXPECT_EQ(
      After(Json::parse(R"({"nodeSelector": {"team": "x"}})")),
      Json::parse(R"({"observedGeneration": 0, "nodeSelector": {"pool": "a", "team": "x"}})"));
  EXPECT_EQ(
      After(Json::parse(R"({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]})")),
      Json::parse(R"({"observedGeneration": 0,
                            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]})"));
  EXPECT_EQ(After(Json::parse(R"({"priorityClassName": "high"})")),
            Json::parse(R"({"observedGeneration": 0, "priorityClassName": "high"})"));
}

TEST(AdmissionOf, LeavesOutThePin) {
  const Json rule = Json::parse(R"({"key": "zone", "operator": "In", "values": ["b"]})");
  const Json pin = Json::parse(R"({"key": "metadata.name", "operator": "In", "values": ["none"]})");
  const auto with = [](const Json& terms) {
    return Json{
        {"affinity",
         {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}}}};
  };
  Json want = with(Json::array({{{"matchExpressions", {rule}}}}));
  want["observedGeneration"] = 0;
  EXPECT_EQ(After(with(Json::array({{{"matchExpressions", {rule}}, {"matchFields", {pin}}}}))),
            want);
}

// A TrainingJob with this status.admission.
Result<api::TrainingJob> JobWith(const Json& admission) {
  return api::DecodeTrainingJob(
      {{"apiVersion", "weft.dev/v1alpha1"},
       {"kind", "TrainingJob"},
       {"metadata", {{"name", "j"}, {"generation", 3}}},
       {"spec",
        {{"accelerator", {{"perWorker", 8}}},
         {"workers",
          {{"replicas", 1},
           {"template", {{"spec", Json::parse(R"({"nodeSelector": {"pool": "a"}, "containers": [
             {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]})")}}}}}}},
       {"status", {{"admission", admission}}}},
      "test");
}

TEST(StatusAdmission, ReplacesTheTemplatesFieldsWhileTheGenerationIsTheSame) {
  Json admission = Json::parse(R"({"observedGeneration": 3,
      "requests": {"cpu": "1500m", "nvidia.com/gpu": "8"},
      "nodeSelector": {"pool": "a", "team": "x"},
      "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}}},
      "priorityClassName": "high"})");
  const auto job = JobWith(admission);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->pod.requests, (fabric::Resources{{"cpu", 1500}, {"nvidia.com/gpu", 8}}));
  EXPECT_EQ(job->pod.node_selector.at("team"), "x");
  EXPECT_EQ(job->pod.tolerations.at(0).key, "nvidia.com/gpu");
  EXPECT_EQ(job->pod.required_affinity->at(0).match_expressions.at(0).key, "zone");
  EXPECT_EQ(job->priority_class_name, "high");
  admission["observedGeneration"] = 2;
  const auto changed = JobWith(admission);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->pod.requests, (fabric::Resources{{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(changed->pod.node_selector.size(), 1U);
  EXPECT_EQ(changed->priority_class_name, "");
}

}  // namespace
}  // namespace weft::life
