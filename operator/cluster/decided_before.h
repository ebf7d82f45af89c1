#pragma once

#include "operator/cluster/workload.h"

namespace weft::cluster {

// Whether the operator decides about `a` first (Order::kOperator).
bool DecidedBefore(const WorkloadView& a, const WorkloadView& b);

}  // namespace weft::cluster
