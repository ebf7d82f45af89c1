#pragma once

#include "operator/base/worker_index.h"
#include "operator/framework/traits.h"

namespace weft::framework {

// The variables for torchrun, which reads its options from PET_*, and for DeepSpeed under torchrun
// or its own launcher. Static: node i has the ranks from i x perWorker on. C10d: torchrun sorts the
// nodes by PET_LOCAL_ADDR as text, so zero-padded host names give the same order. Scripts without
// torchrun get MASTER_ADDR and MASTER_PORT, and with one rank per worker also RANK, WORLD_SIZE and
// LOCAL_RANK. NVIDIA's ft_launcher orders nodes by GROUP_RANK.
// Source  torch/distributed/run.py and elastic/rendezvous/dynamic_rendezvous.py, PyTorch 2.15.
Environment TorchEnvironment(const Gang& gang, WorkerIndex worker);
// Names of variables that only Weft may set for torchrun.
Names TorchVariables(const api::Framework& framework);

const Traits& TorchTraits();

}  // namespace weft::framework
