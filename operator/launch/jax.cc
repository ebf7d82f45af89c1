#include "operator/launch/jax.h"

namespace weft::launch {

Environment JaxEnvironment(const Gang& gang, std::uint32_t worker) {
  const api::TrainingJob& job = *gang.job;
  Environment environment = {
      {"JAX_COORDINATOR_ADDRESS", AddressOf(job, 0) + ":" + std::to_string(job.framework.port)},
      {"JAX_NUM_PROCESSES", std::to_string(job.replicas)},
      {"JAX_PROCESS_ID", std::to_string(worker)}};
  for (const GangLevel& level : gang.levels) {
    if (!level.scale_up) continue;
    environment.emplace_back("JAX_PARTITION_INDEX", std::to_string(level.of_worker[worker]));
  }
  return environment;
}

}  // namespace weft::launch
