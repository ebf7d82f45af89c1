#include "operator/framework/jax.h"

#include <array>

#include "operator/framework/host_name.h"

namespace weft::framework {
namespace {

constexpr auto kJaxVariables = std::to_array<std::string_view>(
    {"JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_PORT", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID",
     "JAX_PARTITION_INDEX", "JAX_SLICE_INDEX"});

Environment JaxEnvironment(const Gang& gang, WorkerIndex worker) {
  const api::TrainingJob& job = *gang.job;
  Environment environment = {{"JAX_COORDINATOR_ADDRESS", AddressOf(job, WorkerIndex{0}) + ":" +
                                                             std::to_string(job.framework.port)},
                             {"JAX_NUM_PROCESSES", std::to_string(job.replicas)},
                             {"JAX_PROCESS_ID", std::to_string(worker.Raw())}};
  for (const GangLevel& level : gang.levels) {
    if (!level.scale_up) continue;
    environment.emplace_back("JAX_PARTITION_INDEX", std::to_string(level.of_worker[worker]));
  }
  return environment;
}

Names JaxVariables(const api::Framework&) { return kJaxVariables; }

}  // namespace

const Traits& JAXTraits() {
  static constexpr Traits kTraits = {.environment = JaxEnvironment,
                                     .reserved = JaxVariables,
                                     .expects = "the script itself",
                                     .own_processes = true};
  return kTraits;
}

}  // namespace weft::framework
