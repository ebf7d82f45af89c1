#include <algorithm>
#include <array>
#include <sstream>

#include "operator/api/container_wait.h"
#include "operator/api/decode.h"
#include "operator/api/gang_annotations.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_requirements.h"
#include "operator/base/short_text.h"
#include "operator/base/stable_text.h"
#include "operator/base/timestamp.h"

namespace weft::api {
namespace {

// The conditions that every pod has (k8s.io/kubernetes pkg/kubelet/types/pod_status.go).
bool IsKubelets(std::string_view type) {
  static constexpr std::array<std::string_view, 5> kTypes = {
      "PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

void DecodeConditionsOf(const Field& status, Pod& pod) {
  for (const Field& condition : status["conditions"].Items()) {
    const std::string type = condition["type"].Str();
    if (!IsKubelets(type)) {
      pod.conditions.push_back({type, condition["status"].Str(), condition["reason"].Str()});
    }
    const bool is = condition["status"].Str() == "True";
    // The containers have ended well; Succeeded follows when the kubelet has cleaned up.
    const bool completed = condition["reason"].Str() == "PodCompleted";
    if (type == "Ready") pod.ready = is || completed;
    if (type == "PodReadyToStartContainers") pod.has_sandbox = is;
    if (type == "DisruptionTarget") pod.disrupted = is;
    if (type == "PodScheduled" && is) {
      pod.bound = ParseTime(condition["lastTransitionTime"].Str()).value_or(0);
    }
    if (type == "PodScheduled" && !is && condition["reason"].Str() == "Unschedulable") {
      pod.unscheduled = condition["message"].Str();
    }
  }
}

// The kubelet's limit of a termination message; longer reasons are of no use either.
constexpr std::size_t kReportBytes = 4096;
constexpr std::size_t kReasonBytes = 256;
// Enough for what mpirun says of a rank that failed.
constexpr std::size_t kTerminationBytes = 1024;
// Only annotations that are short enough for a label are read: a worker's index, a name. A gated
// pod also has those that say how it is to be placed.
constexpr std::size_t kLabelBytes = 63;

// The last cause in a runtime's message, such as `exec: "torchrun": executable file not found in
// $PATH`.
std::string StartError(const std::string& reason, const std::string& message) {
  if (reason != "StartError" && reason != "ContainerCannotRun") return "";
  const std::size_t cause = message.rfind("exec: ");
  return Shorten(message.substr(cause == message.npos ? 0 : cause), kReasonBytes);
}

void DecodeWaiting(const Field& container, Pod& pod) {
  const Field waiting = container["state"]["waiting"];
  if (!pod.waiting.empty() || !waiting.present()) return;
  ContainerWait wait{container["name"].Str(), container["image"].Str(), waiting["reason"].Str(),
                     waiting["message"].Str(), std::nullopt};
  const Field last = container["lastState"]["terminated"];
  if (last.present()) wait.last_exit_code = last["exitCode"].Int();
  pod.waiting = WaitText(wait);
}

// Why the container failed, beside its exit code.
std::string FailureMessage(const std::string& reason, const std::string& message) {
  std::string error = StartError(reason, message);
  return error.empty() ? OneLine(message, kTerminationBytes) : error;
}

void AddReport(const std::string& message, Pod& pod) {
  std::istringstream lines(Shorten(message, kReportBytes));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("weft ")) pod.report += line + "\n";
  }
}

// Containers of spec.initContainers start one after the other: each when the one before it has
// ended well, or runs as a sidecar, both of which the kubelet reports as ready.
bool IsContainerDue(const Field& status) {
  for (const Field& container : status["initContainerStatuses"].Items()) {
    if (!container["ready"].Bool()) return container["state"]["waiting"].present();
  }
  const auto containers = status["containerStatuses"].Items();
  return std::any_of(containers.begin(), containers.end(), [](const Field& container) {
    return container["state"]["waiting"].present();
  });
}

void DecodeContainers(const Field& containers, bool init, Pod& pod) {
  for (const Field& container : containers.Items()) {
    DecodeWaiting(container, pod);
    const Field ended = container["state"]["terminated"];
    if (!ended.present()) continue;
    const std::string reason = ended["reason"].Str(), message = ended["message"].Str();
    AddReport(message, pod);
    const std::int64_t code = ended["exitCode"].Int();
    if (code != 0) pod.exits.push_back({container["name"].Str(), code});
    if (code == 0 || pod.failure) continue;
    pod.failure = Pod::Failure{container["name"].Str(),
                               reason,
                               code,
                               FailureMessage(reason, message),
                               ParseTime(ended["finishedAt"].Str()).value_or(0),
                               init};
  }
}

void DecodeRestarts(const Field& containers, Pod& pod) {
  for (const Field& container : containers.Items()) {
    const std::int64_t times = container["restartCount"].Int({.min = 0});
    if (times == 0) continue;
    pod.restarted.push_back(
        {container["name"].Str(), times, container["lastState"]["terminated"]["exitCode"].Int()});
  }
}

}  // namespace

Result<Pod> DecodePod(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  Pod pod;
  pod.place = decoding.place();
  pod.meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  const Field spec = root["spec"];
  pod.pod = DecodePodOnNode(root, pod.meta.labels);
  pod.node_name = pod.pod.node_name;
  for (const Field& gate : spec["schedulingGates"].Items()) {
    pod.scheduling_gates.push_back(gate["name"].Str());
  }
  const bool gated = !pod.scheduling_gates.empty();
  pod.meta.annotations.KeepIf([gated](auto key, auto value) {
    return value.size() <= kLabelBytes || (gated && IsGangAnnotation(key));
  });
  pod.claims = DecodeClaims(spec, root["status"]);
  pod.priority_class_name = spec["priorityClassName"].Str();
  pod.priority = spec["priority"].Int();
  pod.pod_group = spec["schedulingGroup"]["podGroupName"].Str();
  const Field status = root["status"];
  pod.phase = ParsePodPhase(status["phase"].Str());
  pod.reason = status["reason"].Str();
  pod.nominated_node = status["nominatedNodeName"].Str();
  DecodeConditionsOf(status, pod);
  DecodeContainers(status["initContainerStatuses"], true, pod);
  DecodeContainers(status["containerStatuses"], false, pod);
  pod.starting = pod.phase == PodPhase::kPending && pod.waiting.empty() && IsContainerDue(status);
  DecodeRestarts(status["containerStatuses"], pod);
  if (Status done = decoding.status(); !done) return done.error();
  return pod;
}

Result<Pod> DecodePodHead(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  Pod pod;
  pod.place = decoding.place();
  pod.meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  pod.meta.annotations = {};
  pod.node_name = root["spec"]["nodeName"].Str();
  pod.pod_group = root["spec"]["schedulingGroup"]["podGroupName"].Str();
  pod.phase = ParsePodPhase(root["status"]["phase"].Str());
  if (Status done = decoding.status(); !done) return done.error();
  return pod;
}

}  // namespace weft::api
