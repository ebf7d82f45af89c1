#pragma once

#include "operator/api/kinds.h"
#include "operator/base/result.h"

namespace weft::decide {

// The live objects as if the wanted ones had been applied to the cluster: objects of the same kind,
// namespace and name are replaced, others are appended. A TrainingJob or Placement without a status
// keeps the live object's status, uid and age, as with `kubectl apply`: running jobs go on, and
// waiting jobs keep their position in the queue.
//
// Errors  kInvalid, the wanted object's place first, where the two do not fit together.
Result<api::Inputs> Overlay(api::Inputs live, api::Inputs wanted);

}  // namespace weft::decide
