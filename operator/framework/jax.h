#pragma once

#include "operator/framework/traits.h"

namespace weft::framework {

// The variables for one process per worker. jax.distributed.initialize() reads the coordinator and
// the partition itself; the script passes it int(os.environ["JAX_NUM_PROCESSES"]) and
// JAX_PROCESS_ID. If the gang's traffic uses NVLink between nodes, the partition is the NVLink
// domain. Either all processes have a partition or none.
// Source  jax/_src/distributed.py, JAX 0.10.
const Traits& JAXTraits();

}  // namespace weft::framework
