#pragma once

#include "operator/cli/operator_flags.h"

namespace weft::cli {

// weft-operator: connects, waits until it is the leader, and leads until it is told to stop
// (SIGTERM, SIGINT) or loses the leader election. Exit code: 0 told to stop; 1 lost the leader
// election or never reached the cluster; 2 bad settings.
int RunOperator(const OperatorFlags& flags);

}  // namespace weft::cli
