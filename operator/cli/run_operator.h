#pragma once

#include "operator/cli/operator_flags.h"

namespace weft::cli {

// weft-operator: connects, waits for the lead, leads until it is told to stop (SIGTERM, SIGINT) or
// loses the lead. The exit code: 0 told to stop; 1 lost the lead or never reached the cluster; 2
// bad settings.
int RunOperator(const OperatorFlags& flags);

}  // namespace weft::cli
