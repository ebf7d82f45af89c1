#include "operator/launch/torch.h"

namespace weft::launch {

Environment TorchEnvironment(const Gang& gang, std::uint32_t worker) {
  const api::TrainingJob& job = *gang.job;
  const std::string master = AddressOf(job, 0), port = std::to_string(job.framework.port);
  const std::string index = std::to_string(worker), workers = std::to_string(job.replicas);
  Environment environment = {{"PET_NNODES", workers},
                             {"PET_NPROC_PER_NODE", std::to_string(job.accelerator.per_worker)},
                             {"MASTER_ADDR", master},
                             {"MASTER_PORT", port},
                             {"GROUP_RANK", index}};
  if (job.framework.rendezvous == api::Rendezvous::kC10d) {
    environment.insert(environment.end(),
                       {{"PET_RDZV_BACKEND", "c10d"},
                        {"PET_RDZV_ENDPOINT", master + ":" + port},
                        {"PET_RDZV_ID", job.meta.uid + "-" + std::to_string(gang.attempt)},
                        {"PET_LOCAL_ADDR", AddressOf(job, worker)}});
  } else {
    environment.insert(
        environment.end(),
        {{"PET_NODE_RANK", index}, {"PET_MASTER_ADDR", master}, {"PET_MASTER_PORT", port}});
  }
  if (job.accelerator.per_worker == 1) {
    environment.insert(environment.end(),
                       {{"RANK", index}, {"WORLD_SIZE", workers}, {"LOCAL_RANK", "0"}});
  }
  return environment;
}

}  // namespace weft::launch
