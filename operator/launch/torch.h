#pragma once

#include "operator/launch/gang.h"

namespace weft::launch {

// For torchrun, which reads its options from PET_*, and for DeepSpeed under it or under its own
// launcher. Static: rank 0 of node i is i x perWorker, as told. C10d: torchrun sorts the nodes by
// PET_LOCAL_ADDR as text, so zero-padded host names give the same order. MASTER_ADDR and
// MASTER_PORT for scripts without torchrun; with one rank a worker also its RANK, WORLD_SIZE and
// LOCAL_RANK. GROUP_RANK is what NVIDIA's ft_launcher orders nodes by.
// Source  torch/distributed/run.py and elastic/rendezvous/dynamic_rendezvous.py, PyTorch 2.15.
Environment TorchEnvironment(const Gang& gang, std::uint32_t worker);

}  // namespace weft::launch
