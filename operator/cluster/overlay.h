#pragma once

#include "operator/api/inputs.h"
#include "operator/base/result.h"

namespace weft::cluster {

// The live objects as they would be after `kubectl apply` of the wanted ones: an object of the same
// kind, namespace and name is replaced, others are appended. A wanted TrainingJob or Placement
// without a status keeps the live object's status, uid and age, so running jobs go on, and waiting
// jobs keep their position in the queue.
//
// Errors  kInvalid, starting with the wanted object's place, if the two contradict each other.
Result<api::Inputs> Overlay(api::Inputs live, api::Inputs wanted);

}  // namespace weft::cluster
