#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/base/result.h"
#include "operator/cluster/foreign_gang.h"

namespace weft::cluster {

// How many workers a gang has, and which labels of its pods give a worker's index.
struct GangShape {
  std::int64_t workers = 0;
  std::vector<api::IndexLabel> index_labels;  // empty: in order of the pods' names
  std::int64_t pods_per_job = 1;              // of a JobSet: the most that one of its Jobs has
};

// The shape as far as the pod tells it, by the annotation weft.dev/workers or a size that its
// controller writes (LeaderWorkerSet, pod group); nothing: ShapeOfOwner must tell.
// Errors  kInvalid, which names the annotation.
Result<std::optional<GangShape>> ShapeOfPod(const ForeignGang& gang, const api::Pod& pod);

// The shape by the object that controls the pods. For the kind TrainJob this is its JobSet.
//
// `part`   as in ForeignGang. "" for a JobSet: the replicated jobs "launcher" and "node" together,
//          those whose template has the label weft.dev/place: "true" and requests an accelerator.
//          For the kinds of Kubeflow a replica type in lower case; "": all types with such a
//          template.
// `more`   as for AcceleratorOf.
// Errors   kInvalid, which names the field: "owner: Job train: spec.completions: 16 must not ...".
Result<GangShape> ShapeOfOwner(std::string_view kind, const nlohmann::json& owner,
                               std::string_view part, std::span<const std::string> more = {});

// Whether the pods of the gang can all wait at once. With the exclusive topology of JobSet and of
// LeaderWorkerSet the other pods are created when the first has a node, which it never gets alone;
// with that of subgroups their rules differ.
// Errors   kInvalid, which names the annotation of the pod and what to use instead.
Status CheckCreatedAtOnce(const ForeignGang& gang, const api::Pod& pod, const GangShape& shape);

}  // namespace weft::cluster
