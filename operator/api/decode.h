#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/kinds.h"
#include "operator/base/result.h"

namespace weft::api {

// How strictly an object of Weft's own kinds is read.
enum class Reading : std::uint8_t {
  kStrict,  // of a file: plan and lint refuse unknown fields
  // Of an API server that stored it: unknown fields of spec are left alone (a newer release may
  // have written them), a wrong spec gives an object with `unreadable` set, and a field of status
  // that is wrong has its default. Only wrong metadata is an error.
  kServed,
};

// Decoders from one JSON object. `place` starts every message ("nodes.yaml: document 3").
//
// Of Weft's own kinds everything is checked that the CRD schema checks too: types, enums, bounds,
// unions, unknown fields in spec, divisibility, unique levels (DESIGN sections 2 and 5); of
// Kubernetes' kinds only the fields that Weft reads are looked at, and a wrong type there is an
// error too. perWorker different from the template's limit is an error; absent it is filled in.
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
// Decodes of an unreadable Pod or Node what identifies it, and the pod's node and phase. The caller
// sets the reason in `unreadable`.
Result<Pod> DecodePodHead(const nlohmann::json& object, const Place& place);
Result<Node> DecodeNodeHead(const nlohmann::json& object, const Place& place);
Result<PriorityClass> DecodePriorityClass(const nlohmann::json& object, const Place& place);
Result<Namespace> DecodeNamespace(const nlohmann::json& object, const Place& place);
// Metadata of any namespaced kind.
Result<ObjectMeta> DecodeMetadata(const nlohmann::json& object, const Place& place);

// Appends the object to the right list by apiVersion and kind. Unknown kinds add a note. Another
// version of our group, or an unknown kind of our group, is an error. A `List` (v1, or any
// <Kind>List) is taken apart by the caller.
Status DecodeInto(const nlohmann::json& object, const Place& place, Inputs& inputs);

// After the last object: the same object twice (kind, namespace, name), even if identical, is an
// error that names both places.
Status CheckUnique(const Inputs& inputs);

}  // namespace weft::api
