#include "tests/world/faithful_subjects.h"

#include <utility>

namespace weft::world {
namespace {

using Json = nlohmann::json;

std::vector<Json> ListOf(const char* text) { return Json::parse(text).get<std::vector<Json>>(); }

Subject PodSubject() {
  return {kube::kPods,
          Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "spec": {
            "automountServiceAccountToken": false,
            "schedulingGates": [{"name": "weft.dev/placement"}, {"name": "other.dev/gate"}],
            "nodeSelector": {"pool": "a"},
            "containers": [{"name": "main", "image": "train:1",
              "ports": [{"containerPort": 29500}],
              "env": [{"name": "A", "value": "1"},
                      {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
              "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "500m"}}}]}})"),
          ListOf(R"([{"spec": {"schedulingGates": null}}, {"spec": {"schedulingGates": null}},
            {"spec": {"schedulingGates": []}},
            {"spec": {"schedulingGates": [{"name": "other.dev/gate"}]}},
            {"spec": {"schedulingGates": [{"name": "new.dev/gate"}]}},
            {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n1"}}},
            {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n1"}, "schedulingGates": null}},
            {"spec": {"nodeSelector": {"pool": "b"}}}, {"spec": {"nodeSelector": {"pool": null}}},
            {"spec": {"nodeSelector": null}},
            {"spec": {"tolerations": null}}, {"spec": {"priority": 5}},
            {"spec": {"activeDeadlineSeconds": 5}}, {"spec": {"nodeName": "n1"}},
            {"spec": {"terminationGracePeriodSeconds": 5}}, {"status": {"phase": "Running"}}])"),
          ListOf(R"([{"status": {"phase": "Running"}}, {"status": {"phase": "Succeeded"}},
            {"status": {"phase": "Failed", "reason": "Lost"}},
            {"status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}},
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            {"metadata": {"labels": {"s": "1"}}, "status": {"message": "x"}},
            {"spec": {"priority": 7}, "status": {"reason": "y"}}])"),
          {{"/spec/containers", Json::array()},
           {"/spec/containers/0/image", ""},
           {"/spec/containers/0/name", "Not A Name"},
           {"/spec/nodeName", "n1"},
           {"/spec/priorityClassName", "absent"}},
          5};
}

Subject PlacementSubject() {
  return {kube::kPlacements,
          Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Placement", "spec": {
            "workers": 2, "accelerator": {"perWorker": 8}, "unknownField": 1,
            "podSelector": {"matchLabels": {"job": "x"}},
            "workerIndexLabels": [{"key": "index"}]}})"),
          ListOf(R"([{"spec": {"workers": 3}}, {"spec": {"workers": 2}},
            {"spec": {"workers": "x"}}, {"spec": {"workers": 0}}, {"spec": {"accelerator": null}},
            {"spec": {"fabricName": "pod-1"}}, {"spec": {"fabricName": "Not A Name"}},
            {"spec": {"unknown": {"a": 1}}}, {"status": {"nodes": ["n1"]}},
            {"metadata": {"generation": 99}}])"),
          ListOf(R"([{"status": {"nodes": ["n1", "n2"]}}, {"status": {"nodes": ["n1"]}},
            {"status": null}, {"status": {"nodes": null}}, {"status": {"nodes": "x"}},
            {"status": {"unknown": 1}}, {"status": {"retry": {}}},
            {"status": {"conditions": [{"type": "Placed", "status": "True", "reason": "Done",
              "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            {"status": {"conditions": [{"type": "Placed"}]}},
            {"status": {"conditions": [{"type": "A", "status": "True"},
                                       {"type": "A", "status": "False"}]}},
            {"spec": {"workers": 9}, "status": {"nodes": ["n3"]}},
            {"metadata": {"labels": {"s": "1"}, "finalizers": ["weft.dev/s"]},
             "status": {"nodes": ["n4"]}}])"),
          {{"/spec/workers", "two"},
           {"/spec/workers", 16385},
           {"/spec/workers", 1.5},
           {"/spec/workers", nullptr},
           {"/spec/accelerator", nullptr},
           {"/spec/accelerator/perWorker", 0},
           {"/spec/accelerator/resourceName", "gpu"},
           {"/spec/accelerator/models", Json::array()},
           {"/spec/accelerator/capacityTypes", {"Cheap"}},
           {"/spec/accelerator/capacityTypes", {"Spot", "Any", "Spot", "Any"}},
           {"/spec/parallelism", "no"},
           {"/spec", nullptr},
           {"/spec/topology", {{"required", 5}}}},
          5};
}

Subject JobSubject() {
  return {kube::kTrainingJobs,
          Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "spec": {
            "framework": {"type": "Torch"}, "accelerator": {"perWorker": 8},
            "workers": {"replicas": 2, "template": {"spec": {
              "containers": [{"name": "main", "image": "train:1"}]}}}}})"),
          ListOf(R"([{"spec": {"suspend": true}}, {"spec": {"suspend": false}},
            {"spec": {"startupTimeoutSeconds": 60}}, {"spec": {"ttlSecondsAfterFinished": 5}},
            {"spec": {"failurePolicy": {"maxRestarts": 7}}},
            {"spec": {"workers": {"replicas": "many"}}}, {"spec": {"startupTimeoutSeconds": null}}])"),
          ListOf(R"([{"status": {"phase": "Running"}}, {"status": {"phase": "Failed"}},
            {"status": {"attempt": 1}}, {"status": {"attempt": -1}},
            {"status": {"excludedNodes": ["a"]}}, {"status": null}])"),
          {{"/spec/workers/replicas", 0},
           {"/spec/workers/template/spec/containers/0/ports", {{{"containerPort", "x"}}}},
           {"/spec/workers/template/spec/containers/0/name", nullptr},
           {"/spec/workers/template/spec/containers/0/resources", {{"limits", {{"cpu", "a lot"}}}}},
           {"/spec/workers/template/spec/unknownField", 1},
           {"/spec/framework/type", "Unknown"},
           {"/spec/failurePolicy", {{"maxRestarts", -1}}},
           {"/spec/startupTimeoutSeconds", 0},
           {"/spec/startupTimeoutSeconds", Json(99999999999)}},
          4};
}

Subject SimpleSubject(const kube::Resource& resource, const char* object, const char* patches,
                      const char* statuses, int weight) {
  return {resource, Json::parse(object), ListOf(patches), ListOf(statuses), {}, weight};
}

std::vector<Subject> MakeSubjects() {
  std::vector<Subject> subjects = {PodSubject(), PlacementSubject(), JobSubject()};
  subjects.push_back(SimpleSubject(
      kube::kConfigMaps, R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}})",
      R"([{"data": {"a": "2"}}, {"data": {"a": "1"}}, {"data": {"b": "3", "a": null}},
          {"data": null}, {"immutable": true}])",
      "[]", 4));
  subjects.push_back(SimpleSubject(
      kube::kSecrets, R"({"apiVersion": "v1", "kind": "Secret", "data": {"a": "YQ=="}})",
      R"([{"data": {"a": "Yg=="}}, {"type": "other"}, {"data": null}])", "[]", 2));
  subjects.push_back(SimpleSubject(
      kube::kServices,
      R"({"apiVersion": "v1", "kind": "Service", "spec": {"clusterIP": "None",
          "publishNotReadyAddresses": true, "selector": {"job": "x"},
          "ports": [{"name": "m", "port": 29500}]}})",
      R"([{"spec": {"selector": {"job": "y"}}}, {"spec": {"ports": null}}])", "[]", 2));
  subjects.push_back(
      SimpleSubject(kube::kLeases,
                    R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {
          "holderIdentity": "a", "leaseDurationSeconds": 15,
          "renewTime": "2026-01-01T00:00:00.000000Z"}})",
                    R"([{"spec": {"holderIdentity": "b"}}, {"spec": {"leaseTransitions": 2}},
          {"spec": {"leaseDurationSeconds": 0}}])",
                    "[]", 2));
  subjects.push_back(SimpleSubject(
      kube::kEvents,
      R"({"apiVersion": "events.k8s.io/v1", "kind": "Event", "type": "Normal", "reason": "Placed",
          "action": "Place", "note": "text", "eventTime": "2026-01-01T00:00:00.000000Z",
          "reportingController": "weft.dev/operator", "reportingInstance": "weft-0",
          "regarding": {"kind": "Pod", "namespace": "SPACE", "name": "a", "apiVersion": "v1"}})",
      R"([{"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}])", "[]", 1));
  subjects.push_back(
      SimpleSubject(kube::kResourceQuotas,
                    R"({"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {
          "pods": "3", "requests.nvidia.com/gpu": "16", "count/configmaps": "3"}}})",
                    R"([{"spec": {"hard": {"pods": "4"}}}, {"spec": {"hard": {"pods": null}}}])",
                    R"([{"status": {"hard": {"pods": "3", "requests.nvidia.com/gpu": "16"},
                      "used": {"pods": "0", "requests.nvidia.com/gpu": "0"}}},
          {"status": {"hard": {"pods": "3"}, "used": {"pods": "2"}}},
          {"status": {"hard": {"count/configmaps": "3"}, "used": {"count/configmaps": "1"}}},
          {"status": null}])",
                    2));
  subjects.push_back(
      SimpleSubject(kube::kNodes,
                    R"({"apiVersion": "v1", "kind": "Node", "spec": {"podCIDR": "10.1.0.0/24"},
          "status": {"capacity": {"cpu": "4", "nvidia.com/gpu": "8"}}})",
                    R"([{"spec": {"unschedulable": true}}, {"spec": {"unschedulable": false}},
          {"spec": {"unschedulable": null}}, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
          {"spec": {"taints": null}}])",
                    R"([{"status": {"allocatable": {"cpu": "3"}}},
          {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}])",
                    2));
  subjects.push_back(SimpleSubject(
      kube::kPriorityClasses,
      R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 100})",
      R"([{"description": "text"}, {"value": 200}])", "[]", 1));
  subjects.push_back(SimpleSubject(
      kube::kFabrics,
      R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric", "spec": {
          "levels": [{"name": "leaf", "labelKey": "l"}]}})",
      R"([{"spec": {"costTolerancePercent": 2}}, {"spec": {"costTolerancePercent": null}},
          {"spec": {"nodeSelector": {"matchLabels": {"a": "b"}}}}])",
      R"([{"status": {"nodes": 3}}, {"status": {"nodes": "3"}}])", 1));
  return subjects;
}

}  // namespace

const std::vector<Subject>& Subjects() {
  static const std::vector<Subject> subjects = MakeSubjects();
  return subjects;
}

const std::vector<Json>& MetadataPatches() {
  static const std::vector<Json> patches = ListOf(R"([
    {}, {"metadata": {"labels": {"app": "x"}}}, {"metadata": {"labels": {"app": "y"}}},
    {"metadata": {"labels": {"app": null}}}, {"metadata": {"labels": null}},
    {"metadata": {"labels": {}}}, {"metadata": {"labels": {"bad key!": "x"}}},
    {"metadata": {"labels": {"app": "bad value!"}}},
    {"metadata": {"annotations": {"note": "7"}}}, {"metadata": {"annotations": {"note": ""}}},
    {"metadata": {"annotations": {"note": null}}},
    {"metadata": {"finalizers": ["weft.dev/a"]}}, {"metadata": {"finalizers": ["weft.dev/b"]}},
    {"metadata": {"finalizers": null}}, {"metadata": {"finalizers": null}},
    {"metadata": {"finalizers": []}}, {"metadata": {"finalizers": ["bad"]}},
    {"metadata": {"finalizers": ["weft.dev/a", "weft.dev/b"]}},
    {"metadata": {"uid": "UID", "labels": {"u": "2"}}},
    {"metadata": {"uid": "11111111-1111-4111-8111-111111111111", "labels": {"u": "1"}}},
    {"metadata": {"resourceVersion": "VERSION", "labels": {"v": "1"}}},
    {"metadata": {"resourceVersion": "STALE", "labels": {"v": "2"}}},
    {"metadata": {"resourceVersion": "STALE"}},
    {"metadata": {"uid": "UID", "resourceVersion": "VERSION", "labels": {"v": "3"}}},
    {"metadata": {"name": "other"}}, {"metadata": {"namespace": "other"}},
    {"metadata": {"generateName": "g-"}},
    {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}},
    {"metadata": {"creationTimestamp": null}},
    {"metadata": {"deletionTimestamp": null, "labels": {"d": "1"}}},
    {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a",
      "uid": "22222222-2222-4222-8222-222222222222"}]}},
    {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}]}},
    {"metadata": {"ownerReferences": null}}])");
  return patches;
}

const std::vector<Json>& JsonPatches() {
  static const std::vector<Json> patches = ListOf(R"([
    [{"op": "test", "path": "/metadata/uid", "value": "UID"},
     {"op": "add", "path": "/metadata/annotations", "value": {"j": "1"}}],
    [{"op": "test", "path": "/metadata/uid", "value": "wrong"},
     {"op": "add", "path": "/metadata/annotations", "value": {"j": "2"}}],
    [{"op": "test", "path": "/metadata/resourceVersion", "value": "VERSION"},
     {"op": "add", "path": "/metadata/labels", "value": {"app": "x"}}],
    [{"op": "test", "path": "/metadata/resourceVersion", "value": "STALE"},
     {"op": "add", "path": "/metadata/labels", "value": {"app": "y"}}],
    [{"op": "test", "path": "/metadata/labels/app", "value": "x"},
     {"op": "replace", "path": "/metadata/labels/app", "value": "y"}],
    [{"op": "test", "path": "/metadata/labels/absent", "value": null}],
    [{"op": "remove", "path": "/metadata/finalizers/0"}],
    [{"op": "test", "path": "/metadata/finalizers/0", "value": "weft.dev/a"},
     {"op": "remove", "path": "/metadata/finalizers/0"}],
    [{"op": "add", "path": "/metadata/finalizers/-", "value": "weft.dev/c"}],
    [{"op": "add", "path": "/metadata/finalizers", "value": ["weft.dev/a"]}],
    [{"op": "remove", "path": "/metadata/finalizers"}],
    [{"op": "remove", "path": "/metadata/absent"}],
    [{"op": "replace", "path": "/metadata/absent", "value": "x"}],
    [{"op": "add", "path": "/metadata/absent/child", "value": "x"}],
    [{"op": "remove", "path": "/spec/schedulingGates/0"}],
    [{"op": "test", "path": "/spec/schedulingGates/0/name", "value": "weft.dev/placement"},
     {"op": "remove", "path": "/spec/schedulingGates/0"},
     {"op": "add", "path": "/spec/nodeSelector/kubernetes.io~1hostname", "value": "n2"}],
    [{"op": "remove", "path": "/spec/schedulingGates"}],
    [{"op": "copy", "from": "/metadata/name", "path": "/metadata/annotations/copy"}],
    [{"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}],
    [{"op": "unknown", "path": "/metadata/labels"}], [], {"op": "remove"}])");
  return patches;
}

}  // namespace weft::world
