#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/config_map.h"
#include "operator/api/fabric.h"
#include "operator/api/inputs.h"
#include "operator/api/namespace.h"
#include "operator/api/node.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/priority_class.h"
#include "operator/api/runtime_class.h"
#include "operator/api/training_job.h"
#include "operator/api/volumes.h"
#include "operator/base/result.h"

namespace weft::api {

// How strictly an object of Weft's own kinds is read.
enum class Reading : std::uint8_t {
  kStrict,  // an object from a file: unknown fields are errors (plan, lint)
  // An object that an API server stored: unknown fields of spec are ignored (a newer release may
  // have written them), an invalid spec sets `unreadable`, and an invalid field of status gets its
  // default. Only invalid metadata is an error.
  kServed,
  // As kStrict, but a TrainingJob may be a bare model, without spec.workers or without its
  // replicas, and then also without microBatchSize: what `weft advise` finds. Its `replicas` are 0.
  kModel,
};

// Decoders of one JSON object. Every message starts with `place` ("nodes.yaml: document 3").
//
// Of Weft's own kinds they check all that the CRD schemas check: types, enums, bounds, unions,
// unknown fields in spec, divisibility, unique levels. Of Kubernetes' kinds they read only the
// fields that Weft uses; a wrong type there is an error too. A perWorker that differs from the
// template's limit is an error; if absent, it is set to the limit, and stays 0 for a bare model
// without a template.
//
// Errors  kInvalid: "<place>: <Kind> <namespace>/<name>: spec.workers.replicas: must be at least
// 1".
Result<TrainingJob> DecodeTrainingJob(const nlohmann::json& object, const Place& place,
                                      Reading reading = Reading::kStrict);
Result<Placement> DecodePlacement(const nlohmann::json& object, const Place& place,
                                  Reading reading = Reading::kStrict);
Result<Fabric> DecodeFabric(const nlohmann::json& object, const Place& place,
                            Reading reading = Reading::kStrict);
Result<Node> DecodeNode(const nlohmann::json& object, const Place& place);
Result<Pod> DecodePod(const nlohmann::json& object, const Place& place);
// Decodes only the identity of an unreadable Pod or Node, and the pod's node and phase. The caller
// sets the reason in `unreadable`.
Result<Pod> DecodePodHead(const nlohmann::json& object, const Place& place);
Result<Node> DecodeNodeHead(const nlohmann::json& object, const Place& place);
Result<ResourceSlice> DecodeResourceSlice(const nlohmann::json& object, const Place& place);
Result<ResourceClaim> DecodeResourceClaim(const nlohmann::json& object, const Place& place);
Result<ClaimTemplate> DecodeClaimTemplate(const nlohmann::json& object, const Place& place);
// The template that NVIDIA's driver makes of a ComputeDomain: of one claim for a channel.
Result<ClaimTemplate> DecodeComputeDomain(const nlohmann::json& object, const Place& place);
Result<DeviceClass> DecodeDeviceClass(const nlohmann::json& object, const Place& place);
Result<PersistentVolume> DecodePersistentVolume(const nlohmann::json& object, const Place& place);
Result<VolumeClaim> DecodeVolumeClaim(const nlohmann::json& object, const Place& place);
Result<StorageClass> DecodeStorageClass(const nlohmann::json& object, const Place& place);
Result<CsiNode> DecodeCsiNode(const nlohmann::json& object, const Place& place);
Result<PodGroup> DecodePodGroup(const nlohmann::json& object, const Place& place);
Result<RuntimeClass> DecodeRuntimeClass(const nlohmann::json& object, const Place& place);
Result<PriorityClass> DecodePriorityClass(const nlohmann::json& object, const Place& place);
Result<Namespace> DecodeNamespace(const nlohmann::json& object, const Place& place);
Result<ConfigMap> DecodeConfigMap(const nlohmann::json& object, const Place& place);
// Decodes the metadata of any namespaced kind.
Result<ObjectMeta> DecodeMetadata(const nlohmann::json& object, const Place& place);

// A file of accelerators that Weft's table lacks: a list `accelerators` as in a Fabric's spec.
Result<std::vector<fabric::AcceleratorSpec>> DecodeAcceleratorFile(const nlohmann::json& document,
                                                                   const Place& place);

// Appends the object to the list of its apiVersion and kind. Unknown kinds of other groups, and
// ConfigMaps other than kLearnedSteps, add a note; an unknown kind or version of our group and a
// second kLearnedSteps are errors. The caller must split a `List` (v1, or
// any <Kind>List) into its items.
Status DecodeInto(const nlohmann::json& object, const Place& place, Inputs& inputs,
                  Reading reading = Reading::kStrict);

// To be called after the last object. Two objects of the same kind, namespace and name, even if
// identical, are an error that names both places.
Status CheckUnique(const Inputs& inputs);

}  // namespace weft::api
