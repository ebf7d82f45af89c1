#include "operator/api/kueue.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

TEST(DecodeKueue, AWorkloadHasItsPodSetsAsTheyAreAdmitted) {
  const auto workload = DecodeWorkload(Json::parse(R"({
      "metadata": {"name": "w", "namespace": "ns", "uid": "u"},
      "spec": {"queueName": "train", "priority": 3, "podSets": [
          {"name": "workers", "count": 4,
           "topologyRequest": {"podIndexLabel": "i", "subGroupIndexLabel": "g", "subGroupCount": 2},
           "template": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {
               "priorityClassName": "high", "schedulingGates": [{"name": "weft.dev/placement"}],
               "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}},
          {"template": {}}]},
      "status": {
          "admission": {"clusterQueue": "q", "podSetAssignments": [
              {"name": "workers", "count": 2, "flavors": {"cpu": "x", "memory": "x", "gpu": "y"}},
              {"name": "unknown", "count": 9}]},
          "conditions": [{"type": "QuotaReserved", "status": "True"}],
          "admissionChecks": [{"name": "c", "state": "Ready", "podSetUpdates": [
              {"name": "workers", "labels": {"k": "v"}}]}]}})"),
                                       "test");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->unreadable, "");
  EXPECT_TRUE(workload->active);
  EXPECT_EQ(workload->queue, "train");
  EXPECT_EQ(workload->priority, 3);
  EXPECT_EQ(workload->cluster_queue, "q");
  ASSERT_EQ(workload->pod_sets.size(), 2U);
  const PodSet& set = workload->pod_sets[0];
  EXPECT_EQ(set.count, 2U);
  EXPECT_EQ(set.flavors, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(set.pod.requests.at("nvidia.com/gpu"), 8);
  EXPECT_EQ(set.priority_class_name, "high");
  EXPECT_EQ(set.labels.At("a"), "b");
  EXPECT_EQ(set.annotations.At("c"), "d");
  EXPECT_TRUE(set.gated);
  EXPECT_EQ(set.index_label + " " + set.group_label, "i g");
  EXPECT_EQ(set.groups, 2U);
  EXPECT_EQ(workload->pod_sets[1].name, "main");
  EXPECT_EQ(workload->pod_sets[1].count, 1U);
  ASSERT_EQ(workload->checks.size(), 1U);
  EXPECT_EQ(workload->checks[0].labels.at("workers").At("k"), "v");
  EXPECT_EQ(workload->checks_json->at(0).at("name"), "c");
}

// Kueue assigns quota only to the pods that are left, but they keep their indices.
TEST(DecodeKueue, PodsThatHaveSucceededAreStillWorkers) {
  const auto set = [](int assigned, int reclaimed) {
    Json object = Json::parse(R"({
        "metadata": {"name": "w", "namespace": "ns"},
        "spec": {"podSets": [{"count": 8, "template": {}}]},
        "status": {"admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main"}]},
                   "reclaimablePods": [{"name": "main"}]}})");
    object["status"]["admission"]["podSetAssignments"][0]["count"] = assigned;
    object["status"]["reclaimablePods"][0]["count"] = reclaimed;
    return DecodeWorkload(object, "test")->pod_sets[0];
  };
  EXPECT_EQ(set(7, 1).count, 8U);  // admitted again after one has succeeded
  EXPECT_EQ(set(8, 3).count, 8U);  // three have succeeded since
  EXPECT_EQ(set(8, 3).succeeded, 3U);
  EXPECT_EQ(set(8, 9).succeeded, 8U);  // no more than there are
}

TEST(DecodeKueue, AWorkloadThatCannotBeReadKeepsItsChecks) {
  const auto workload = DecodeWorkload(Json::parse(R"({
      "metadata": {"name": "w", "namespace": "ns"},
      "spec": {"podSets": [{"count": -1}]},
      "status": {"admissionChecks": [{"name": "c", "state": "Pending"}]}})"),
                                       "test");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->unreadable, "spec.podSets[0].count: -1 must be at least 0");
  EXPECT_TRUE(workload->pod_sets.empty());
  EXPECT_EQ(workload->checks.size(), 1U);
  EXPECT_FALSE(DecodeWorkload(Json::parse(R"({"metadata": {}})"), "test"));
}

TEST(DecodeKueue, AnAdmissionCheckNamesItsControllerAndParameters) {
  const auto check = DecodeAdmissionCheck(Json::parse(R"({
      "metadata": {"name": "c"},
      "spec": {"controllerName": "weft.dev/placement",
               "parameters": {"apiGroup": "weft.dev", "kind": "Fabric", "name": "f"}},
      "status": {"conditions": [{"type": "Active", "status": "True"}]}})"),
                                          "test");
  ASSERT_TRUE(check);
  EXPECT_EQ(check->controller, kCheckController);
  EXPECT_EQ(check->parameters, (AdmissionCheck::Parameters{"weft.dev", "Fabric", "f"}));
  EXPECT_EQ(check->conditions.size(), 1U);
  EXPECT_FALSE(DecodeAdmissionCheck(
      Json::parse(R"({"metadata": {"name": "c"}, "spec": {"controllerName": 1}})"), "test"));
}

TEST(DecodeKueue, AFlavorHasLabelsAndTolerations) {
  const auto flavor = DecodeResourceFlavor(Json::parse(R"({
      "metadata": {"name": "f"},
      "spec": {"nodeLabels": {"a": "b"}, "topologyName": "t",
               "tolerations": [{"key": "gpu", "operator": "Exists"}]}})"),
                                           "test");
  ASSERT_TRUE(flavor);
  EXPECT_EQ(flavor->node_labels.at("a"), "b");
  EXPECT_EQ(flavor->topology_name, "t");
  EXPECT_EQ(flavor->tolerations, (std::vector<rules::Toleration>{{"gpu", "Exists", "", ""}}));
}

TEST(DecodeInto, TakesTheKindsOfKueueInTheVersionThatWeftReads) {
  Inputs inputs;
  const auto take = [&](const char* kind, const char* version) {
    const Json object = {{"apiVersion", std::string("kueue.x-k8s.io/") + version},
                         {"kind", kind},
                         {"metadata", {{"name", "x"}, {"namespace", "ns"}}}};
    EXPECT_TRUE(DecodeInto(object, "test", inputs)) << kind;
  };
  for (const char* kind : {"Workload", "AdmissionCheck", "ResourceFlavor", "LocalQueue"}) {
    take(kind, "v1beta2");
  }
  take("Workload", "v1beta1");
  EXPECT_EQ(inputs.workloads.size(), 1U);
  EXPECT_EQ(inputs.admission_checks.size(), 1U);
  EXPECT_EQ(inputs.resource_flavors.size(), 1U);
  EXPECT_EQ(inputs.notes, (std::vector<std::string>{
                              "ignored 1 object of kind LocalQueue (kueue.x-k8s.io/v1beta2)",
                              "ignored 1 object of kind Workload (kueue.x-k8s.io/v1beta1)"}));
  EXPECT_TRUE(CheckUnique(inputs));
  take("Workload", "v1beta2");
  EXPECT_FALSE(CheckUnique(inputs));
}

TEST(DecodePodRequests, ReadsAnAnnotationOfResources) {
  const auto requests = [](const std::string& text) {
    ObjectMeta meta;
    meta.annotations.Set(kPodRequestsAnnotation, text);
    return DecodePodRequests(meta);
  };
  EXPECT_EQ(requests(R"({"cpu": "500m", "nvidia.com/gpu": "8"})"),
            (fabric::Resources{{"cpu", 500}, {"nvidia.com/gpu", 8}}));
  for (const char* wrong : {"", "{", "[1]", R"({"cpu": "many"})", R"({"cpu": -1})"}) {
    EXPECT_TRUE(requests(wrong).empty()) << wrong;
  }
  EXPECT_TRUE(DecodePodRequests({}).empty());
}

TEST(DecodeKueue, AWorkloadThatCannotBeReadIsNamed) {
  Inputs inputs;
  const Json workload = Json::parse(R"({
      "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
      "metadata": {"name": "w", "namespace": "ns"}, "spec": {"priority": "high"}})");
  ASSERT_TRUE(DecodeInto(workload, "queue.yaml", inputs));
  EXPECT_EQ(inputs.notes, std::vector<std::string>{
                              "queue.yaml: Workload ns/w: spec.priority: \"high\" must be an "
                              "integer"});
}

}  // namespace
}  // namespace weft::api
