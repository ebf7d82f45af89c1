// Pods as the API server sees them.
#include "tests/world/pods.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"

namespace weft::world {

using Json = nlohmann::json;

namespace {

void SetDefault(Json& object, const char* name, Json value) {
  if (!object.contains(name)) object[name] = std::move(value);
}

void DefaultProbe(Json& container, const char* name) {
  if (!container.contains(name)) return;
  Json& probe = container[name];
  SetDefault(probe, "timeoutSeconds", 1);
  SetDefault(probe, "periodSeconds", 10);
  SetDefault(probe, "successThreshold", 1);
  SetDefault(probe, "failureThreshold", 3);
  if (probe.contains("httpGet")) {
    SetDefault(probe["httpGet"], "path", "/");
    SetDefault(probe["httpGet"], "scheme", "HTTP");
  }
}

std::string PullPolicyOf(const std::string& image) {
  if (image.find('@') != std::string::npos) return "IfNotPresent";
  const auto slash = image.rfind('/');
  const auto colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon) == ":latest" ? "Always" : "IfNotPresent";
}

void DefaultContainer(Json& container) {
  SetDefault(container, "resources", Json::object());
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "imagePullPolicy", PullPolicyOf(api::TextAt(container, "image")));
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    DefaultProbe(container, probe);
  }
  if (container.contains("ports")) {
    for (Json& port : container["ports"]) SetDefault(port, "protocol", "TCP");
  }
  if (container.contains("env")) {
    for (Json& variable : container["env"]) {
      if (!variable.contains("valueFrom")) continue;
      Json& from = variable["valueFrom"];
      if (from.contains("fieldRef")) SetDefault(from["fieldRef"], "apiVersion", "v1");
      if (from.contains("resourceFieldRef")) SetDefault(from["resourceFieldRef"], "divisor", "0");
    }
  }
  Json& resources = container["resources"];
  if (!resources.contains("limits")) return;
  for (const auto& [name, limit] : resources["limits"].items()) {
    if (!resources["requests"].contains(name)) resources["requests"][name] = limit;
  }
}

void DefaultVolume(Json& volume) {
  constexpr int kReadable = 0644;
  for (const char* kind : {"configMap", "secret", "projected", "downwardAPI"}) {
    if (volume.contains(kind)) SetDefault(volume[kind], "defaultMode", kReadable);
  }
  if (volume.size() == 1) volume["emptyDir"] = Json::object();
  if (volume.contains("hostPath")) SetDefault(volume["hostPath"], "type", "");
}

void DefaultTolerations(Json& spec) {
  constexpr int kSeconds = 300;
  Json list = spec.value("tolerations", Json::array());
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool given = std::any_of(list.begin(), list.end(), [&](const Json& each) {
      const std::string effect = api::TextAt(each, "effect");
      const std::string own = api::TextAt(each, "key");
      return (own == key || own.empty()) && (effect == "NoExecute" || effect.empty());
    });
    if (given) continue;
    list.push_back({{"key", key},
                    {"operator", "Exists"},
                    {"effect", "NoExecute"},
                    {"tolerationSeconds", kSeconds}});
  }
  spec["tolerations"] = std::move(list);
}

std::string QosOf(const Json& pod) {
  bool any = false, guaranteed = true;
  for (const char* kind : {"containers", "initContainers"}) {
    if (!pod["spec"].contains(kind)) continue;
    for (const Json& container : pod["spec"][kind]) {
      const Json resources = container.value("resources", Json::object());
      for (const char* name : {"cpu", "memory"}) {
        const std::string request = resources.value("requests", Json::object()).value(name, "");
        const std::string limit = resources.value("limits", Json::object()).value(name, "");
        any = any || (!request.empty() && request != "0") || (!limit.empty() && limit != "0");
        guaranteed = guaranteed && !limit.empty() && request == limit;
      }
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

Json* ConditionOf(Json& status, const std::string& type) {
  if (!status.contains("conditions")) return nullptr;
  for (Json& condition : status["conditions"]) {
    if (api::TextAt(condition, "type") == type) return &condition;
  }
  return nullptr;
}

const Json& SpecOf(const Json& pod) { return pod.at("spec"); }

Json MemberOr(const Json& object, const char* name, Json otherwise) {
  const Json* found = api::FindMember(object, name);
  return found == nullptr ? std::move(otherwise) : *found;
}

// Whether the list after begins with, or at least has, all of the list before.
bool OnlyAdds(const Json& before, const Json& after) {
  return std::all_of(before.begin(), before.end(), [&](const Json& each) {
    return std::find(after.begin(), after.end(), each) != after.end();
  });
}

// A gated pod's node selector may get further labels, and its affinity may be set.
void AllowTighter(const Json& before, Json& after, Causes& causes) {
  const Json old = MemberOr(before, "nodeSelector", Json::object());
  const Json now = MemberOr(after, "nodeSelector", Json::object());
  bool adds = true;
  for (const auto& [key, value] : old.items()) {
    adds = adds && now.contains(key) && now[key] == value;
  }
  if (!adds) {
    causes.push_back(WrongValue("spec.nodeSelector", api::JsonText(now),
                                "only additions are allowed (no mutations or deletions)"));
  }
  if (before.contains("nodeSelector")) {
    after["nodeSelector"] = before["nodeSelector"];
  } else {
    after.erase("nodeSelector");
  }
  const bool sets_affinity = after.contains("affinity") && !before.contains("affinity");
  if (sets_affinity) after.erase("affinity");
}

void CheckPod(const Json& pod, Causes& causes) {
  const Json& spec = SpecOf(pod);
  const Json* containers = api::FindMember(spec, "containers");
  if (containers == nullptr || containers->empty()) {
    causes.push_back(Required("spec.containers"));
    return;
  }
  for (std::size_t i = 0; i < containers->size(); ++i) {
    const std::string path = "spec.containers[" + std::to_string(i) + "].";
    const std::string name = api::TextAt((*containers)[i], "name");
    if (!name.empty() && !RE2::FullMatch(name, "[a-z0-9]([-a-z0-9]*[a-z0-9])?")) {
      causes.push_back(WrongValue(path + "name", "\"" + name + "\"", "a lowercase RFC 1123 label"));
    }
    for (const char* field : {"name", "image"}) {
      if (api::TextAt((*containers)[i], field).empty()) causes.push_back(Required(path + field));
    }
  }
}

void AddNodeInfo(Json& status) {
  if (!status.is_object()) status = Json::object();
  Json& info = status["nodeInfo"];
  for (const char* name :
       {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
        "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"}) {
    SetDefault(info, name, "");
  }
  if (!status.contains("daemonEndpoints")) {
    status["daemonEndpoints"] = {{"kubeletEndpoint", {{"Port", 0}}}};
  }
}

}  // namespace

void DefaultPod(Json& pod) {
  Json& spec = pod["spec"];
  if (!spec.is_object()) spec = Json::object();
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "securityContext", Json::object());
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefault(spec, "enableServiceLinks", true);
  SetDefault(spec, "serviceAccountName", "default");
  SetDefault(spec, "serviceAccount", spec["serviceAccountName"]);
  for (const char* kind : {"containers", "initContainers"}) {
    if (!spec.contains(kind)) continue;
    for (Json& container : spec[kind]) DefaultContainer(container);
  }
  if (spec.contains("volumes")) {
    for (Json& volume : spec["volumes"]) DefaultVolume(volume);
  }
  DefaultTolerations(spec);
}

Json NewPodStatus(const Json& pod, const std::string& now) {
  Json status = {{"phase", "Pending"}, {"qosClass", QosOf(pod)}};
  if (HasGates(pod)) {
    status["conditions"] = {
        {{"type", "PodScheduled"},
         {"status", "False"},
         {"reason", "SchedulingGated"},
         {"lastProbeTime", nullptr},
         {"lastTransitionTime", now},
         {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  }
  return status;
}

void CheckBuiltIn(const std::string& resource, const Json& object, Causes& causes) {
  if (resource == "pods") CheckPod(object, causes);
  if (resource != "leases.coordination.k8s.io" || !object.contains("spec")) return;
  const Json* time = api::FindMember(object["spec"], "leaseDurationSeconds");
  if (time != nullptr && *time <= 0) {
    causes.push_back(
        WrongValue("spec.leaseDurationSeconds", api::JsonText(*time), "must be greater than 0"));
  }
}

void CheckNewPod(const Json& pod, Causes& causes) {
  if (HasGates(pod) && !NodeOf(pod).empty()) {
    causes.push_back(
        NotAllowed("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

bool SetEvicted(Json& pod, const std::string& now) {
  Json& status = pod["status"];
  if (ConditionOf(status, "DisruptionTarget") != nullptr) return false;
  status["conditions"].push_back({{"type", "DisruptionTarget"},
                                  {"status", "True"},
                                  {"reason", "EvictionByEvictionAPI"},
                                  {"message", "Eviction API: evicting"},
                                  {"lastProbeTime", nullptr},
                                  {"lastTransitionTime", now}});
  return true;
}

void CheckBuiltInChange(const std::string& resource, const Json& before, const Json& after,
                        Causes& causes) {
  const auto differs = [&](const char* name) {
    return MemberOr(before, name, Json()) != MemberOr(after, name, Json());
  };
  if (resource == "secrets" && differs("type")) {
    causes.push_back(WrongValue("type", "\"\"", "field is immutable"));
  }
  if (resource == "priorityclasses.scheduling.k8s.io" && differs("value")) {
    causes.push_back(NotAllowed("value", "may not be changed in an update."));
  }
  if ((resource != "configmaps" && resource != "secrets") || !before.value("immutable", false)) {
    return;
  }
  for (const char* name : {"immutable", "data", "binaryData"}) {
    if (differs(name)) {
      causes.push_back(NotAllowed(name, "field is immutable when `immutable` is set"));
    }
  }
}

void CheckPodChange(const Json& before, const Json& after, Causes& causes) {
  const Json& old = SpecOf(before);
  Json now = SpecOf(after);
  const Json gates_before = MemberOr(old, "schedulingGates", Json::array());
  const Json gates_after = MemberOr(now, "schedulingGates", Json::array());
  for (std::size_t i = 0; i < gates_after.size(); ++i) {
    if (std::find(gates_before.begin(), gates_before.end(), gates_after[i]) == gates_before.end()) {
      causes.push_back(NotAllowed("spec.schedulingGates[" + std::to_string(i) + "].name",
                                  "only deletion is allowed, but found new scheduling gate"));
    }
  }
  const Json tolerations_before = MemberOr(old, "tolerations", Json::array());
  const Json tolerations_after = MemberOr(now, "tolerations", Json::array());
  if (!OnlyAdds(tolerations_before, tolerations_after)) {
    causes.push_back(NotAllowed("spec.tolerations",
                                "existing toleration can not be modified except its "
                                "tolerationSeconds"));
  }
  if (!gates_before.empty()) AllowTighter(old, now, causes);
  for (const char* name : {"schedulingGates", "tolerations", "activeDeadlineSeconds"}) {
    now.erase(name);
  }
  Json rest = old;
  for (const char* name : {"schedulingGates", "tolerations", "activeDeadlineSeconds"}) {
    rest.erase(name);
  }
  for (const char* kind : {"containers", "initContainers"}) {
    if (!now.contains(kind) || !rest.contains(kind)) continue;
    for (Json* spec : {&now, &rest}) {
      for (Json& container : (*spec)[kind]) container.erase("image");
    }
  }
  if (now != rest) {
    causes.push_back(NotAllowed(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
  }
}

bool HasGates(const Json& pod) {
  const Json* gates = api::FindMember(pod.at("spec"), "schedulingGates");
  return gates != nullptr && !gates->empty();
}

void SetScheduled(Json& pod, const std::string& now) {
  Json& status = pod["status"];
  Json* condition = ConditionOf(status, "PodScheduled");
  if (condition == nullptr) {
    status["conditions"].push_back({{"type", "PodScheduled"}});
    condition = &status["conditions"].back();
  }
  *condition = {{"type", "PodScheduled"},
                {"status", "True"},
                {"lastProbeTime", nullptr},
                {"lastTransitionTime", now}};
}

bool IsTerminal(const Json& pod) {
  const Json* status = api::FindMember(pod, "status");
  const std::string phase = status == nullptr ? "" : api::TextAt(*status, "phase");
  return phase == "Succeeded" || phase == "Failed";
}

std::string NodeOf(const Json& pod) {
  const Json* spec = api::FindMember(pod, "spec");
  return spec == nullptr ? "" : api::TextAt(*spec, "nodeName");
}

void AddNulls(const std::string& resource, Json& object) {
  if (resource == "resourcequotas") SetDefault(object, "status", Json::object());
  if (resource == "events.events.k8s.io") {
    SetDefault(object, "deprecatedSource", Json::object());
    for (const char* name : {"deprecatedFirstTimestamp", "deprecatedLastTimestamp"}) {
      SetDefault(object, name, nullptr);
    }
  }
  if (resource == "nodes") AddNodeInfo(object["status"]);
  const bool is_pod = resource == "pods";
  if ((!is_pod && resource != "nodes") || !object.contains("status")) return;
  Json& status = object["status"];
  if (!status.is_object() || !status.contains("conditions")) return;
  for (Json& condition : status["conditions"]) {
    SetDefault(condition, is_pod ? "lastProbeTime" : "lastHeartbeatTime", nullptr);
    SetDefault(condition, "lastTransitionTime", nullptr);
  }
}

void DefaultNewNode(Json& node, bool tainted) {
  if (!tainted) return;
  Json& taints = node["spec"]["taints"];
  if (taints.is_null()) taints = Json::array();
  taints.push_back({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
}

void DefaultBuiltIn(const std::string& resource, Json& object) {
  if (resource == "nodes") {
    Json& status = object["status"];
    if (status.contains("capacity")) SetDefault(status, "allocatable", status["capacity"]);
    if (object.contains("spec") && object["spec"].contains("podCIDR")) {
      SetDefault(object["spec"], "podCIDRs", {object["spec"]["podCIDR"]});
    }
    return;
  }
  if (resource == "services") {
    Json& spec = object["spec"];
    SetDefault(spec, "type", "ClusterIP");
    SetDefault(spec, "sessionAffinity", "None");
    SetDefault(spec, "internalTrafficPolicy", "Cluster");
    if (spec.contains("ports")) {
      for (Json& port : spec["ports"]) {
        SetDefault(port, "protocol", "TCP");
        if (port.contains("port")) SetDefault(port, "targetPort", port["port"]);
      }
    }
    if (api::TextAt(spec, "clusterIP") == "None") spec["clusterIPs"] = {"None"};
    SetDefault(spec, "ipFamilies", {"IPv4"});
    SetDefault(spec, "ipFamilyPolicy", "SingleStack");
    object["status"] = {{"loadBalancer", Json::object()}};
  } else if (resource == "secrets") {
    SetDefault(object, "type", "Opaque");
  } else if (resource == "priorityclasses.scheduling.k8s.io") {
    SetDefault(object, "preemptionPolicy", "PreemptLowerPriority");
  } else if (resource == "jobs.batch") {
    Json& spec = object["spec"];
    SetDefault(spec, "parallelism", 1);
    SetDefault(spec, "completions", 1);
    SetDefault(spec, "backoffLimit", 6);
    SetDefault(spec, "completionMode", "NonIndexed");
    SetDefault(spec, "suspend", false);
  }
}

}  // namespace weft::world
