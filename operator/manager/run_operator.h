#pragma once

#include "operator/manager/operator_flags.h"

namespace weft::manager {

// weft-operator: connects, waits until it is the leader, and leads until it is told to stop
// (SIGTERM, SIGINT) or loses the leader election. Exit code: 0 told to stop; 1 lost the leader
// election or never reached the cluster; 2 bad settings.
int RunOperator(const OperatorFlags& flags);

}  // namespace weft::manager
