#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_requirements.h"

namespace weft::api {
namespace {

void DecodeConditionsOf(const Field& status, Pod& pod) {
  for (const Field& condition : status["conditions"].Items()) {
    const std::string type = condition["type"].Str();
    const bool is = condition["status"].Str() == "True";
    if (type == "Ready") pod.ready = is;
    if (type == "DisruptionTarget") pod.disrupted = is;
    if (type == "PodScheduled" && !is && condition["reason"].Str() == "Unschedulable") {
      pod.unscheduled = condition["message"].Str();
    }
  }
}

void DecodeFailure(const Field& containers, Pod& pod) {
  for (const Field& container : containers.Items()) {
    const Field ended = container["state"]["terminated"];
    const std::int64_t code = ended["exitCode"].Int();
    if (!ended.present() || code == 0 || pod.failure) continue;
    pod.failure = Pod::Failure{container["name"].Str(), ended["reason"].Str(), code};
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
  pod.pod = DecodePodSpec(spec);
  pod.node_name = pod.pod.node_name;
  for (const Field& gate : spec["schedulingGates"].Items()) {
    pod.scheduling_gates.push_back(gate["name"].Str());
  }
  pod.priority_class_name = spec["priorityClassName"].Str();
  const Field status = root["status"];
  pod.phase = status["phase"].Str();
  pod.reason = status["reason"].Str();
  pod.nominated_node = status["nominatedNodeName"].Str();
  DecodeConditionsOf(status, pod);
  DecodeFailure(status["initContainerStatuses"], pod);
  DecodeFailure(status["containerStatuses"], pod);
  if (Status done = decoding.status(); !done) return done.error();
  return pod;
}

}  // namespace weft::api
