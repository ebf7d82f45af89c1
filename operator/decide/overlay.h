#pragma once

#include "operator/api/kinds.h"
#include "operator/base/result.h"

namespace weft::decide {

// The live objects as if the wanted ones had been applied to the cluster: an object of the same
// kind, namespace and name is replaced, others are added behind. A TrainingJob or Placement without
// a status of its own keeps what the live one has, and its uid and age, as `kubectl apply` leaves
// them: what runs goes on running, and what waits keeps its turn.
//
// Errors  kInvalid, the wanted object's place first, where the two do not fit together.
Result<api::Inputs> Overlay(api::Inputs live, api::Inputs wanted);

}  // namespace weft::decide
