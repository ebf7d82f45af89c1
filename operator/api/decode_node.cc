#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/node_devices.h"
#include "operator/api/pod_requirements.h"
#include "operator/base/timestamp.h"
#include "operator/fabric/partition.h"

namespace weft::api {

Result<Node> DecodeNode(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  Node node;
  node.place = decoding.place();
  ObjectMeta meta = DecodeMeta(root["metadata"], Scope::kCluster);
  node.meta.key = meta.key;
  node.meta.uid = std::move(meta.uid);
  node.meta.creation_timestamp = std::move(meta.creation_timestamp);
  node.facts.name = meta.key.name;
  node.facts.labels = std::move(meta.labels);
  // They may be more units than the node has GPUs, also where no label counts these.
  const RegisteredGpus registered = ReadRegisteredGpus(meta.annotations);
  if (registered.gpus > 0) {
    node.facts.labels.Set(fabric::kRegisteredGpus, std::to_string(registered.gpus));
  }

  const Field spec = root["spec"];
  node.facts.unschedulable = spec["unschedulable"].Bool();
  for (const Field& taint : spec["taints"].Items()) {
    node.facts.taints.push_back({taint["key"].Str(), taint["value"].Str(), taint["effect"].Str()});
  }
  const Field status = root["status"];
  for (const Field& condition : status["conditions"].Items()) {
    node.facts.conditions.push_back({condition["type"].Str(), condition["status"].Str(),
                                     ParseTime(condition["lastTransitionTime"].Str()).value_or(0)});
  }
  // If the kubelet reports no allocatable, capacity counts.
  const bool reported = status["allocatable"].present();
  node.facts.allocatable = DecodeResources(status[reported ? "allocatable" : "capacity"]);
  node.facts.capacity =
      DevicesBeyond(DecodeResources(status["capacity"]), node.facts, registered.units);
  if (Status done = decoding.status(); !done) return done.error();
  return node;
}

Result<Node> DecodeNodeHead(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const ObjectMeta meta = DecodeMeta(decoding.Root()["metadata"], Scope::kCluster);
  if (Status done = decoding.status(); !done) return done.error();
  Node node;
  node.place = decoding.place();
  node.meta.key = meta.key;
  node.meta.uid = meta.uid;
  node.facts.name = meta.key.name;
  return node;
}

}  // namespace weft::api
