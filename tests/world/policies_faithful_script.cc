#include "tests/world/policies_faithful_script.h"

#include <array>
#include <optional>
#include <utility>

#include "operator/api/json_text.h"
#include "operator/base/check.h"
#include "operator/kube/kueue_resources.h"
#include "tests/world/actor.h"
#include "tests/world/kueue_status.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

constexpr kube::Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};
constexpr const char* kUid = "11111111-2222-4333-8444-555555555555";

std::vector<Json> ListOf(const std::string& text) {
  return Json::parse(text).get<std::vector<Json>>();
}

// A kind that questions write, with changes (merge patches) of it.
struct Subject {
  kube::Resource resource;
  Json right;                // as the operator creates it, in team-a
  std::vector<Json> wrongs;  // changes of a new one
  struct Known {
    api::ObjectKey key;
    Json change;  // of `right`
    Json status = Json(nullptr);
  };
  std::vector<Known> known;    // what is there
  std::vector<Json> changes;   // of what is there
  std::vector<Json> statuses;  // of its status
};

Json Owner(const char* kind, const char* api = "weft.dev/v1alpha1", bool controller = true,
           const char* name = "job") {
  Json owner = {{"apiVersion", api}, {"kind", kind}, {"name", name}, {"uid", kUid}};
  if (controller) owner["controller"] = true;
  return owner;
}

Json Owned(std::vector<Json> owners) {
  return {{"metadata", {{"ownerReferences", std::move(owners)}}}};
}

// Changes of owners that any object may have.
std::vector<Json> Owners() {
  return {Owned({Owner("TrainingJob")}),
          Owned({Owner("Placement")}),
          Owned({Owner("Workload", "kueue.x-k8s.io/v1beta2")}),
          Owned({Owner("Workload", "example.com/v1")}),
          Owned({Owner("Job", "batch/v1")}),
          Owned({Owner("TrainingJob", "example.com/v1")}),
          Owned({Owner("TrainingJob", "weft.dev/v1alpha1", false)}),
          Owned({Owner("Job", "batch/v1"), Owner("TrainingJob", "weft.dev/v1alpha1", false)}),
          Owned({Owner("TrainingJob", "weft.dev/v1alpha1", true, "another")}),
          Owned({})};
}

std::vector<Json> With(std::vector<Json> some, const std::vector<Json>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

Json RightPod() {
  return Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job-1-0",
      "labels": {"weft.dev/job-name": "job", "weft.dev/job-uid": "UID", "weft.dev/attempt": "1",
                 "weft.dev/worker-index": "0"}},
    "spec": {"automountServiceAccountToken": false,
      "containers": [{"name": "c", "image": "registry.example/train:1"}],
      "initContainers": [{"name": "i", "image": "registry.example/train:1"}]}})");
}

std::vector<Json> WrongPods() {
  const std::string container = R"("name": "c", "image": "registry.example/train:1")";
  std::vector<Json> wrongs = ListOf(R"([
    {"metadata": {"name": "another-1-0"}}, {"metadata": {"labels": null}},
    {"metadata": {"labels": {"weft.dev/job-uid": "7"}}},
    {"metadata": {"labels": {"weft.dev/job-uid": null}}},
    {"metadata": {"labels": {"weft.dev/job-name": "another"}}},
    {"metadata": {"labels": {"weft.dev/attempt": null}}},
    {"metadata": {"labels": {"weft.dev/worker-index": null}}},
    {"metadata": {"labels": {"weft.dev/placement": "job-1"}}},
    {"metadata": {"labels": {"weft.dev/place": "true"}}},
    {"metadata": {"labels": {"weft.dev/place": "true", "weft.dev/job-uid": null}}},
    {"metadata": {"labels": {"weft.dev/place": "yes", "weft.dev/job-uid": null}}},
    {"metadata": {"labels": {"weft.dev/placement": "job-1", "weft.dev/job-uid": null}}},
    {"metadata": {"labels": {"weft.dev/place": "true", "weft.dev/job-uid": null}},
     "spec": {"nodeName": "any"}},
    {"metadata": {"finalizers": ["example.com/f"], "annotations": {"a": "b"}}},
    {"spec": {"nodeName": "any"}}, {"spec": {"hostNetwork": true}}, {"spec": {"hostPID": true}},
    {"spec": {"hostIPC": true}}, {"spec": {"hostNetwork": false}},
    {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
    {"spec": {"volumes": [{"name": "v", "emptyDir": {}},
                          {"name": "h", "hostPath": {"path": "/etc", "type": ""}}]}},
    {"spec": {"schedulingGates": [{"name": "weft.dev/placement"}]}},
    {"spec": {"schedulingGates": [{"name": "example.com/hold"}]}}])");
  for (const char* more :
       {R"("securityContext": {"privileged": true})", R"("securityContext": {"privileged": false})",
        R"("securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}})",
        R"("securityContext": {"capabilities": {"add": ["IPC_LOCK", "NET_RAW"]}})",
        R"("securityContext": {"capabilities": {"add": ["IPC_LOCK", "CHOWN"]}})",
        R"("securityContext": {"procMount": "Default"})",
        R"("ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}])",
        R"("ports": [{"containerPort": 80}])"}) {
    for (const char* list : {"containers", "initContainers"}) {
      std::string one = "{" + container + ", " + more + "}";
      wrongs.push_back({{"spec", {{list, {Json::parse(one)}}}}});
      if (list != std::string("containers")) wrongs.back()["spec"][list][0]["name"] = "i";
    }
  }
  return With(With(std::move(wrongs), Owners()), Owners());
}

Subject Pods() {
  const Json plain = {{"metadata", {{"labels", {{"weft.dev/job-uid", nullptr}}}}}};
  Json gated = Json::parse(R"({"metadata": {"labels": {"weft.dev/job-uid": null, "app": "x"},
      "annotations": {"note": "1", "weft.dev/worker-index": "0"}},
    "spec": {"schedulingGates": [{"name": "weft.dev/placement"}, {"name": "example.com/hold"}]}})");
  Json ungated = gated;
  ungated["spec"] = {{"schedulingGates", {{{"name", "example.com/hold"}}}}};
  Json stranger = Owned({Owner("Job", "batch/v1")}),
       shared = Owned({Owner("TrainingJob", "weft.dev/v1alpha1", false)});
  Json of_another = {{"metadata", {{"labels", {{"weft.dev/job-uid", "7"}}}}}};
  Json loose = Owned({});
  loose.merge_patch(plain);
  return {kube::kPods,
          RightPod(),
          WrongPods(),
          {{{"team-a", "job-1-1"}, Json::object()},
           {{"team-a", "gated"}, gated},
           {{"team-a", "held"}, ungated},
           {{"team-a", "stranger"}, stranger},
           {{"team-a", "shared"}, shared},
           {{"team-a", "of-another"}, of_another},
           {{"team-a", "loose"}, loose}},
          ListOf(R"([{}, {"metadata": {"labels": {"team": "a"}}}, {"metadata": {"labels": null}},
            {"metadata": {"labels": {"weft.dev/job-uid": "9"}}},
            {"metadata": {"labels": {"weft.dev/job-uid": null}}},
            {"metadata": {"annotations": {"note": "2"}}},
            {"metadata": {"annotations": {"note": null}}},
            {"metadata": {"annotations": {"new": "2"}}}, {"metadata": {"annotations": null}},
            {"metadata": {"annotations": {"weft.dev/worker-index": "1"}}},
            {"metadata": {"annotations": {"weft.dev/worker-index": null}}},
            {"metadata": {"annotations": {"weft.dev/new": "1"}}},
            {"metadata": {"finalizers": ["example.com/f"]}},
            {"metadata": {"ownerReferences": null}},
            {"spec": {"schedulingGates": null}},
            {"spec": {"schedulingGates": [{"name": "weft.dev/placement"}]}},
            {"spec": {"schedulingGates": [{"name": "example.com/hold"}]}},
            {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n1"}}},
            {"spec": {"affinity": {"nodeAffinity":
              {"requiredDuringSchedulingIgnoredDuringExecution":
              {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In",
                "values": ["n1"]}]}]}}}}},
            {"spec": {"activeDeadlineSeconds": 7}},
            {"spec": {"containers": [{"name": "c", "image": "registry.example/other:1"}]}}])"),
          ListOf(R"([{"status": {"phase": "Running"}}])")};
}

Subject Jobs() {
  Json right = Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "new"}, "spec": {"framework": {"type": "Torch"},
      "accelerator": {"perWorker": 8}, "workers": {"replicas": 2, "template": {"spec": {
        "containers": [{"name": "main", "image": "train:1"}]}}}}})");
  const auto ended = [](const char* type, const char* status) {
    return Json{{"status",
                 {{"conditions",
                   {{{"type", type},
                     {"status", status},
                     {"reason", "Ended"},
                     {"message", ""},
                     {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}};
  };
  const Json ttl = {{"spec", {{"ttlSecondsAfterFinished", 100'000}}}};
  const Json dressed = Json::parse(R"({"metadata": {"labels": {"a": "b"},
    "annotations": {"others": "stay"}, "finalizers": ["weft.dev/claims", "example.com/f"]}})");
  return {kube::kTrainingJobs,
          right,
          ListOf(R"([{}, {"metadata": {"labels": {"a": "b"}}}, {"spec": {"suspend": true}}])"),
          {{{"team-a", "kept"}, ttl},
           {{"team-a", "dressed"}, dressed},
           {{"team-a", "complete"}, ttl, ended("Complete", "True")},
           {{"team-a", "failed"}, ttl, ended("Failed", "True")},
           {{"team-a", "not-complete"}, ttl, ended("Complete", "False")},
           {{"team-a", "stays"}, Json::object(), ended("Complete", "True")}},
          ListOf(R"([{}, {"spec": {"suspend": true}}, {"spec": {"startupTimeoutSeconds": 7}},
            {"spec": {"ttlSecondsAfterFinished": null}},
            {"metadata": {"labels": {"a": "c"}}}, {"metadata": {"labels": {"n": "c"}}},
            {"metadata": {"annotations": {"a": "b"}}},
            {"metadata": {"annotations": {"others": null}}},
            {"metadata": {"annotations": {"weft.dev/measured-step-seconds": "12.4"}}},
            {"metadata": {"finalizers": null}}, {"metadata": {"finalizers": ["weft.dev/claims"]}},
            {"metadata": {"finalizers": ["weft.dev/claims", "example.com/f"]}},
            {"metadata": {"finalizers": ["example.com/f"]}},
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x",
              "uid": "11111111-2222-4333-8444-555555555555"}]}}])"),
          ListOf(R"([{"status": {"attempt": 1}}, {"status": {"phase": "Failed"}}])")};
}

Subject Placements() {
  Json right = Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
    "metadata": {"name": "job-1"}, "spec": {"workers": 2, "accelerator": {"perWorker": 8}}})");
  const Json gang = {{"metadata", {{"labels", {{"weft.dev/gang", "x"}}}}}};
  Json of_job = Owned({Owner("Job", "batch/v1")});
  of_job.merge_patch(gang);
  Json ownerless = Owned({});
  ownerless.merge_patch(gang);
  return {
      kube::kPlacements,
      right,
      With({gang, of_job, ownerless}, Owners()),
      {{{"team-a", "owned"}, Json::object()},
       {{"team-a", "free"}, Owned({})},
       {{"team-a", "of-workload"}, Owned({Owner("Workload", "kueue.x-k8s.io/v1beta2")})},
       {{"team-a", "of-job"}, Owned({Owner("Job", "batch/v1")})},
       {{"team-a", "gang-of-job"}, of_job},
       {{"team-a", "gang"}, ownerless}},
      ListOf(R"([{"metadata": {"labels": {"a": "b"}}}, {"metadata": {"ownerReferences": null}}])"),
      ListOf(R"([{"status": {"nodes": ["n1", "n2"]}}, {"status": {"nodes": null}}])")};
}

Subject Services() {
  Json right = Json::parse(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new",
      "labels": {"weft.dev/job-name": "job", "weft.dev/job-uid": "UID"}},
    "spec": {"clusterIP": "None", "ports": [{"port": 80}],
      "selector": {"weft.dev/job-uid": "UID"}}})");
  const std::vector<Json> wrongs = ListOf(R"([{"metadata": {"labels": null}},
    {"metadata": {"labels": {"weft.dev/job-name": null}}},
    {"metadata": {"labels": {"weft.dev/job-uid": null}}},
    {"spec": {"clusterIP": null}}, {"spec": {"clusterIP": null, "type": "NodePort"}},
    {"spec": {"type": "ClusterIP"}}, {"spec": {"selector": {"weft.dev/job-uid": null, "app": "x"}}},
    {"spec": {"selector": null}}, {"spec": {"externalIPs": ["192.0.2.1"]}}])");
  const Json bare = {{"metadata", {{"labels", nullptr}}}};
  Json bare_alone = Owned({});
  bare_alone.merge_patch(bare);
  return {kube::kServices,
          right,
          With(With(wrongs, wrongs), Owners()),
          {{{"team-a", "labelled"}, Owned({})},
           {{"team-a", "owned"}, bare},
           {{"team-a", "bare"}, bare_alone}},
          ListOf(R"([{"metadata": {"labels": {"a": "b"}}}, {"spec": {"selector": {"a": "b"}}}])"),
          {}};
}

Subject Simple(const kube::Resource& resource, const char* right) {
  return {
      resource,
      Json::parse(right),
      Owners(),
      {{{"team-a", "owned"}, Json::object()}, {{"team-a", "bare"}, Owned({})}},
      ListOf(R"([{"metadata": {"labels": {"a": "b"}}}, {"metadata": {"ownerReferences": null}}])"),
      {}};
}

Subject Workloads() {
  Json right = Json::parse(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "new"}, "spec": {"queueName": "q", "active": true, "priority": 5,
      "podSets": [{"name": "main", "count": 2, "template": {}}]}})");
  const Json status = Json::parse(R"({"status": {
    "admissionChecks": [{"name": "placement", "state": "Pending", "message": "",
      "lastTransitionTime": "2026-01-01T00:00:00Z"}],
    "requeueState": {"count": 1}}})");
  return {kube::kWorkloads,
          right,
          Owners(),
          {{{"team-a", "ours"}, Json::object(), status},
           {{"team-a", "of-job"}, Owned({Owner("Job", "batch/v1")}), status},
           {{"team-a", "free"}, Owned({}), status}},
          ListOf(R"([{}, {"spec": {"queueName": "other"}}, {"spec": {"active": false}},
            {"spec": {"priority": 6}},
            {"metadata": {"finalizers": ["kueue.x-k8s.io/resource-in-use"]}},
            {"metadata": {"ownerReferences": null}}, {"metadata": {"labels": {"a": "b"}}},
            {"spec": {"podSets": [{"name": "main", "count": 3, "template": {}}]}}])"),
          ListOf(R"([{"status": {"requeueState": {"count": 2}}}, {"status": {"requeueState": null}},
            {"status": {"clusterName": "c"}}, {"status": {"reclaimablePods": [{"name": "main"}]}},
            {"status": {"unhealthyNodes": [{"name": "n"}]}},
            {"status": {"schedulingStats": {"a": 1}}},
            {"status": {"conditions": [{"type": "Evicted", "status": "True", "reason": "R",
              "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            {"status": {"admission": {"clusterQueue": "q"}}}, {"status": {"admissionChecks": null}},
            {"status": {"admissionChecks": [{"name": "placement", "state": "Ready", "message": "m",
              "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            {"status": {"admissionChecks": [{"name": "other", "state": "Ready", "message": "m",
              "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            {"metadata": {"labels": {"a": "b"}}, "status": {"other": 1}}])")};
}

Subject Events() {
  return {kube::kEvents,
          Json::parse(R"({"apiVersion": "events.k8s.io/v1", "kind": "Event",
      "metadata": {"name": "new"}, "type": "Normal", "reason": "Placed", "action": "Place",
      "note": "text", "eventTime": "2026-01-01T00:00:00.000000Z",
      "reportingController": "weft.dev/operator", "reportingInstance": "weft-0",
      "regarding": {"kind": "Pod", "namespace": "SPACE", "name": "a", "apiVersion": "v1"}})"),
          {Json::object()},
          {},
          {},
          {}};
}

Subject Leases() {
  return {kube::kLeases,
          Json::parse(R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
      "metadata": {"name": "new"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}})"),
          {Json::object()},
          {{{"weft-system", "weft-operator"}, Json::object()}, {{"team-a", "x"}, Json::object()}},
          ListOf(R"([{"spec": {"holderIdentity": "b"}}])"),
          {}};
}

Subject Fabrics() {
  return {kube::kFabrics,
          Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric",
      "metadata": {"name": "new"}, "spec": {"levels": [{"name": "leaf", "labelKey": "l"}]}})"),
          {Json::object()},
          {{{"", "default"}, Json::object()}},
          ListOf(R"([{"metadata": {"labels": {"a": "b"}}}])"),
          ListOf(R"([{"status": {"nodes": 3}}])")};
}

std::vector<Subject> MakeSubjects() {
  std::vector<Subject> all = {
      Pods(),
      Jobs(),
      Placements(),
      Services(),
      Workloads(),
      Simple(kube::kConfigMaps,
             R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}})"),
      Simple(kube::kSecrets,
             R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}})"),
      Events(),
      Leases(),
      Fabrics()};
  for (Subject& subject : all) {
    const bool labelled = subject.resource.kind == "Pod" || subject.resource.kind == "Service";
    if (labelled) subject.right["metadata"]["labels"]["weft.dev/job-uid"] = kUid;
    const bool owned = subject.resource.kind == "Pod" || !subject.wrongs.empty();
    const std::string kind(subject.resource.kind);
    const bool alone =
        kind == "TrainingJob" || kind == "Event" || kind == "Lease" || kind == "Fabric";
    if (owned && !alone) subject.right.merge_patch(Owned({Owner("TrainingJob")}));
  }
  // What the operator has learned.
  for (Subject& subject : all) {
    if (subject.resource.kind != "ConfigMap") continue;
    subject.known.push_back({{"weft-system", "weft-learned-steps"}, Owned({})});
    subject.wrongs.push_back(
        {{"metadata", {{"name", "weft-learned-steps"}, {"ownerReferences", nullptr}}}});
  }
  for (Subject& subject : all) {
    if (subject.resource.kind != "Secret") continue;
    subject.wrongs.push_back(
        {{"metadata", {{"name", "weft-operator-metrics"}, {"ownerReferences", nullptr}}}});
  }
  return all;
}

const std::vector<Subject>& Subjects() {
  static const std::vector<Subject> subjects = MakeSubjects();
  return subjects;
}

Json Named(Json object, const kube::Resource& resource, const api::ObjectKey& key) {
  object["metadata"]["name"] = key.name;
  if (resource.namespaced) object["metadata"]["namespace"] = key.space;
  if (object.contains("regarding")) object["regarding"]["namespace"] = key.space;
  return object;
}

kube::Request Dry(kube::Request request) {
  request.query["dryRun"] = "All";
  if (request.method != kube::Method::kDelete) return request;
  Json body = Json::parse(request.body);
  body["dryRun"] = {"All"};
  request.body = body.dump();
  return request;
}

std::string Shown(const Json& object) { return object.is_null() ? "" : " " + object.dump(); }

Question PatchOf(const std::string& user, const kube::Resource& resource, const api::ObjectKey& key,
                 const Json& change, const char* subresource = "") {
  kube::Write write;
  write.subresource = subresource;
  return {"patch " + kube::PathOf(resource, key, subresource) + Shown(change), user,
          Dry(kube::PatchRequest(resource, key, {kube::PatchType::kMerge, change}, write))};
}

Question CreateOf(const std::string& user, const kube::Resource& resource, const Json& object) {
  return {"create" + Shown(object), user, Dry(kube::CreateRequest(resource, object, {}))};
}

Question DeleteOf(const std::string& user, const kube::Resource& resource,
                  const api::ObjectKey& key) {
  return {"delete " + kube::PathOf(resource, key), user,
          Dry(kube::DeleteRequest(resource, key, {}))};
}

}  // namespace

std::vector<kube::Request> PolicyObjects() {
  std::vector<kube::Request> made;
  for (const char* space : {"kube-system", "weft-system", "team-a", "team-b", "team-p"}) {
    Json object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}};
    if (space == std::string("team-p")) {
      object["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "privileged";
    }
    made.push_back(kube::CreateRequest(kube::kNamespaces, object, {}));
    const Json account = {{"apiVersion", "v1"},
                          {"kind", "ServiceAccount"},
                          {"metadata", {{"name", "default"}, {"namespace", space}}}};
    made.push_back(kube::CreateRequest(kServiceAccounts, account, {}));
  }
  for (const Subject& subject : Subjects()) {
    for (const Subject::Known& known : subject.known) {
      Json object = subject.right;
      object.merge_patch(known.change);
      object = Named(std::move(object), subject.resource, known.key);
      made.push_back(kube::CreateRequest(subject.resource, object, {}));
      if (known.status.is_null()) continue;
      made.push_back(kube::PatchRequest(subject.resource, known.key,
                                        {kube::PatchType::kMerge, known.status},
                                        {.subresource = "status"}));
    }
  }
  return made;
}

std::vector<Question> FirstQuestions() {
  const auto of = [](const char* kind) -> const Subject& {
    for (const Subject& one : Subjects()) {
      if (one.resource.kind == kind) return one;
    }
    WEFT_CHECK(false);
    return Subjects().front();
  };
  const Subject &pods = of("Pod"), &jobs = of("TrainingJob"), &services = of("Service");
  Json bare = Named(pods.right, kube::kPods, {"team-a", "bare"});
  bare["metadata"].erase("ownerReferences");
  Json asks = bare;
  asks["metadata"]["labels"] = {{"weft.dev/place", "true"}};
  Json open = Named(services.right, kube::kServices, {"team-a", "open"});
  open["spec"].erase("clusterIP");
  const Json suspend = {{"spec", {{"suspend", true}}}},
             ungate = {{"spec", {{"schedulingGates", nullptr}}}};
  const Json label = {{"metadata", {{"labels", {{"team", "a"}}}}}};
  return {CreateOf(kOperatorAccount, kube::kPods, bare),
          DeleteOf(kOperatorAccount, kube::kPods, {"team-a", "loose"}),
          PatchOf(kOperatorAccount, kube::kPods, {"team-a", "gated"}, label),
          PatchOf(kTenant, kube::kPods, {"team-a", "gated"}, ungate),
          PatchOf(kPipeline, kube::kPods, {"team-a", "gated"}, ungate),
          CreateOf(kAdmin, kube::kTrainingJobs,
                   Named(jobs.right, kube::kTrainingJobs, {"kube-system", "x"})),
          PatchOf(kOperatorAccount, kube::kTrainingJobs, {"team-a", "kept"}, suspend),
          DeleteOf(kOperatorAccount, kube::kPlacements, {"team-a", "free"}),
          DeleteOf(kOperatorAccount, kube::kWorkloads, {"team-a", "free"}),
          CreateOf(kOperatorAccount, kube::kServices, open),
          CreateOf(kAdmin, kube::kPods, asks)};
}

std::string Questions::AnyUser() {
  switch (Below(10)) {
    case 0:
    case 1:
      return kTenant;
    case 2:
      return kPipeline;
    case 3:
      return kAdmin;
    default:
      return kOperatorAccount;
  }
}

Question Questions::Next() {
  const std::string user = AnyUser();
  const std::size_t draw = Below(20);
  if (draw < 9) return Create(user);
  if (draw < 15) return Patch(user);
  if (draw < 17) return Delete(user);
  return draw < 18 ? Read(user) : Other(user);
}

// Half of them about pods, which have the most rules.
static std::size_t Leaning(std::size_t draw, std::size_t count) { return draw >= count ? 0 : draw; }

Question Questions::Create(const std::string& user) {
  const Subject& subject = Subjects()[Leaning(Below(Subjects().size() * 2), Subjects().size())];
  constexpr std::array<const char*, 8> kSpaces = {"team-a", "team-a",      "team-a",      "team-p",
                                                  "team-b", "weft-system", "kube-system", "team-a"};
  Json object = subject.right;
  for (std::size_t left = Below(3); left > 0 && !subject.wrongs.empty(); --left) {
    object.merge_patch(subject.wrongs[Below(subject.wrongs.size())]);
  }
  const std::string name = TextAt(object, {"metadata", "name"});
  return CreateOf(
      user, subject.resource,
      Named(std::move(object), subject.resource, {kSpaces[Below(kSpaces.size())], name}));
}

Question Questions::Patch(const std::string& user) {
  const Subject* subject = nullptr;
  while (subject == nullptr || subject->known.empty()) {
    subject = &Subjects()[Leaning(Below(Subjects().size() * 3 / 2), Subjects().size())];
  }
  const api::ObjectKey& key = subject->known[Below(subject->known.size())].key;
  const bool of_status = !subject->statuses.empty() && Below(3) == 0;
  const std::vector<Json>& changes = of_status ? subject->statuses : subject->changes;
  Json change = changes[Below(changes.size())];
  if (Below(4) == 0) change.merge_patch(changes[Below(changes.size())]);
  return PatchOf(user, subject->resource, key, change, of_status ? "status" : "");
}

Question Questions::Delete(const std::string& user) {
  const Subject* subject = nullptr;
  while (subject == nullptr || subject->known.empty())
    subject = &Subjects()[Below(Subjects().size())];
  return DeleteOf(user, subject->resource, subject->known[Below(subject->known.size())].key);
}

Question Questions::Read(const std::string& user) {
  const std::array<kube::Resource, 8> others = {kube::kNodes,
                                                kube::kNamespaces,
                                                kube::kResourceQuotas,
                                                kube::kPriorityClasses,
                                                kube::kResourceSlices,
                                                kube::kAdmissionChecks,
                                                kJobs,
                                                kServiceAccounts};
  const std::size_t count = Subjects().size(), at = Below(count + others.size());
  const kube::Resource& resource = at < count ? Subjects()[at].resource : others[at - count];
  constexpr std::array<const char*, 4> kSpaces = {"", "team-a", "team-b", "weft-system"};
  constexpr std::array<const char*, 5> kNames = {"", "", "owned", "weft-learned-steps",
                                                 "weft-operator"};
  api::ObjectKey key{kSpaces[Below(kSpaces.size())], kNames[Below(kNames.size())]};
  if (!resource.namespaced) key.space.clear();
  if (resource.namespaced && key.space.empty()) key.name.clear();
  return {"read " + kube::PathOf(resource, key), user, kube::GetRequest(resource, key)};
}

// Which nobody or few may do.
Question Questions::Other(const std::string& user) {
  constexpr std::array<const char*, 3> kPodNames = {"job-1-1", "loose", "gated"};
  const api::ObjectKey pod{Below(4) == 0 ? "team-b" : "team-a", kPodNames[Below(kPodNames.size())]};
  const std::string asker = user == kAdmin ? kOperatorAccount : user;
  switch (Below(4)) {
    case 0: {
      kube::Request evicts = kube::EvictRequest(pod, {});
      Json body = Json::parse(evicts.body);
      body["deleteOptions"]["dryRun"] = {"All"};
      evicts.body = body.dump();
      return {"evict " + api::Show(pod), asker, Dry(std::move(evicts))};
    }
    case 1:
      return {"delete pods", kOperatorAccount,
              Dry(kube::DeleteCollectionRequest(kube::kPods, pod.space, "app=x", {}))};
    case 2: {
      const Json status = {{"status", {{"phase", "Running"}}}};
      return PatchOf(asker, kube::kPods, {"team-a", "loose"}, status, "status");
    }
    default: {
      const Json node = {{"spec", {{"unschedulable", true}}}};
      return PatchOf(asker, kube::kNodes, {"", "any"}, node);
    }
  }
}

}  // namespace weft::world
