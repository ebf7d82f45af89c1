#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/topology_spec.h"
#include "operator/base/text_map.h"
#include "operator/base/result.h"

namespace weft::api {

// Labels of a pod (template) whose controller is not Weft.
inline constexpr const char* kPlaceLabel = "weft.dev/place";  // "true": Weft places the pods
inline constexpr const char* kPlacementLabel = "weft.dev/placement";  // the Placement's name
// Annotations. The first three have the JSON of the field of that name in a Placement's spec; the
// last has the number of workers.
inline constexpr const char* kModelAnnotation = "weft.dev/model";
inline constexpr const char* kParallelismAnnotation = "weft.dev/parallelism";
inline constexpr const char* kTopologyAnnotation = "weft.dev/topology";
inline constexpr const char* kWorkersAnnotation = "weft.dev/workers";
// Kueue's annotations, whose values are keys of node labels.
inline constexpr const char* kKueueRequired = "kueue.x-k8s.io/podset-required-topology";
inline constexpr const char* kKueuePreferred = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr const char* kKueueSlice = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr const char* kKueueSliceSize = "kueue.x-k8s.io/podset-slice-size";
inline constexpr const char* kKueueSlices =
    "kueue.x-k8s.io/podset-slice-required-topology-constraints";

inline constexpr const char* kKueueGroupName = "kueue.x-k8s.io/podset-group-name";

// A sentence about an annotation of Kueue that Weft does not follow; "" if there is none.
std::string IgnoredAnnotation(const TextMap& annotations);

// Whether DecodeGangAnnotations reads the annotation.
bool IsGangAnnotation(std::string_view key);

// A rule: every block of `pods` consecutive workers is in one domain of the level with that label
// key.
struct TopologySlice {
  std::string annotation;  // that gives it
  std::string label_key;
  std::int64_t pods = 0;

  friend bool operator==(const TopologySlice&, const TopologySlice&) = default;
};

// What the annotations of a pod template ask of the gang's Placement.
struct GangAnnotations {
  std::optional<traffic::Model> model;
  std::optional<traffic::Parallelism> parallelism;
  std::optional<TopologySpec> topology;     // if given, Kueue's annotations are not read
  std::string required_key, preferred_key;  // of Kueue: label keys; "" if absent
  std::vector<TopologySlice> slices;        // of Kueue: largest first, each divides the one before
  std::optional<std::uint32_t> workers;
};

// Reads the annotations. Other keys are ignored.
//
// Errors  kInvalid, which names annotation and field:
//         "annotation weft.dev/model: transformer.layers: 0 must be at least 1".
// Source  Kueue 0.19, apis/kueue/v1beta2/topology_types.go, and the checks of
//         pkg/controller/jobframework/tas_validation.go, 2026.
Result<GangAnnotations> DecodeGangAnnotations(const TextMap& annotations);

}  // namespace weft::api
