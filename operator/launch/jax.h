#pragma once

#include "operator/launch/gang.h"

namespace weft::launch {

// One process a worker. jax.distributed.initialize() reads the coordinator and the partition by
// itself; the script passes it int(os.environ["JAX_NUM_PROCESSES"]) and JAX_PROCESS_ID. The
// partition is the NVLink domain, where the gang's traffic uses that network: all processes have
// one, or none.
// Source  jax/_src/distributed.py, JAX 0.10.
Environment JaxEnvironment(const Gang& gang, std::uint32_t worker);

}  // namespace weft::launch
