#include "operator/framework/torch.h"

#include <array>

#include "operator/framework/host_name.h"

namespace weft::framework {
namespace {

constexpr auto kTorchLaunchers = std::to_array<std::string_view>({"torchrun", "ft_launcher"});

constexpr auto kTorchVariables = std::to_array<std::string_view>(
    {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
     "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_LOCAL_ADDR", "PET_STANDALONE",
     "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
     "GROUP_RANK"});

}  // namespace

Environment TorchEnvironment(const Gang& gang, WorkerIndex worker) {
  const api::TrainingJob& job = *gang.job;
  const std::string master = AddressOf(job, WorkerIndex{0}),
                    port = std::to_string(job.framework.port);
  const std::string index = std::to_string(worker.Raw()), workers = std::to_string(job.replicas);
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

// Without is_host torchrun guesses who hosts the store: it compares the endpoint's name with its
// own. PyTorch 1.13 never resolves the name and lets nobody host it; later versions resolve it, and
// are wrong if worker 0's record in DNS comes late. Source: torch/distributed/elastic/rendezvous,
// c10d_rendezvous_backend.py and utils.py.
Environment TorchOptions(const Gang& gang, WorkerIndex worker) {
  if (gang.job->framework.rendezvous != api::Rendezvous::kC10d) return {};
  const bool hosts = worker == WorkerIndex{0};
  return {{"PET_RDZV_CONF", std::string("is_host=") + (hosts ? "true" : "false")}};
}

Names TorchVariables(const api::Framework&) { return kTorchVariables; }

const Traits& TorchTraits() {
  static constexpr Traits kTraits = {.environment = TorchEnvironment,
                                     .options = TorchOptions,
                                     .reserved = TorchVariables,
                                     .expects = "torchrun",
                                     .launchers = kTorchLaunchers};
  return kTraits;
}

}  // namespace weft::framework
