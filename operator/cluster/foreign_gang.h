#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/base/result.h"

namespace weft::cluster {

// Label of a Placement that the operator made for pods of other controllers: ForeignGang::base.
inline constexpr const char* kGangLabel = "weft.dev/gang";
// Its annotation: the hash of what the pods asked for when it was made.
inline constexpr const char* kRequestHashAnnotation = "weft.dev/asked";
// Annotation of an ungated pod: the uid of its Placement.
inline constexpr const char* kPlacementUidAnnotation = "weft.dev/placement-uid";

// The gang that a pod of another controller belongs to:
//   Job            all its pods
//   JobSet         the pods of one replicated job, of one restart attempt; those of the replicated
//                  jobs "launcher" and "node" together, as Kubeflow Trainer names the jobs of MPI
//   TrainJob       as its JobSet, which has its name
//   PyTorchJob, TFJob, JAXJob, XGBoostJob, PaddleJob, MPIJob    all its pods
//   LeaderWorkerSet    one group
//   RayCluster     one worker group, or the head
//   Pod            Kueue's pod group
// Only pods with the label weft.dev/place are its workers.
struct ForeignGang {
  std::string kind;
  std::string owner;  // the name of the object of that kind
  // Replicated job, worker group or index of the group; "" for all pods, and for "launcher" with
  // "node".
  std::string part;
  // At most 63 characters, the same for all pods of all attempts: "<owner>-<part>-<hash>".
  std::string base;
  std::string placement_name;  // base, with the attempt if the kind has one
  // Labels of the workers of this attempt. Other pods may have them too (cluster::Selects).
  std::map<std::string, std::string> selector;
};

// Errors  kInvalid, a sentence: nothing on the pod tells its gang.
Result<ForeignGang> ForeignGangOf(const api::Pod& pod);

// The object that owns the gang's Placement, so that both are deleted together: the pods'
// controller, the JobSet of their Jobs, or the leader's StatefulSet; for pods without a controller
// the first pod. `pods` must not be empty.
api::OwnerReference GangOwner(const ForeignGang& gang, const std::vector<const api::Pod*>& pods);

// A hash of all that ShapeOfPod and the annotations of a pod say of its Placement.
std::string RequestHash(const api::Pod& pod);

}  // namespace weft::cluster
