#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_requirements.h"

namespace weft::api {

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
  pod.phase = root["status"]["phase"].Str();
  if (Status done = decoding.status(); !done) return done.error();
  return pod;
}

}  // namespace weft::api
