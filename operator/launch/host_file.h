#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// Capacity of a ConfigMap, names and contents of its files together (Kubernetes' API reference,
// ConfigMap v1: "The data stored ... must not exceed 1 MiB").
inline constexpr std::size_t kConfigMapBytes = std::size_t{1} << 20;

// The workers in order, for MPI's and DeepSpeed's launchers:
//   DeepSpeed         "<address> slots=<GPUs>"
//   Open MPI          a line for each rank, worker 0 by its bare host name: Open MPI knows the host
//                     that mpirun runs on by that alone
//   Intel MPI, MPICH  "<address>:<GPUs>"
std::string HostFile(const api::TrainingJob& job);
std::size_t HostFileBytes(const api::TrainingJob& job);  // 0 for the other frameworks. Cost  O(1)

// Whether the hostfile would fill more than half of a ConfigMap: it is made in the pods then, from
// kFillScript. 16,384 workers of eight ranks are 11 MB of lines, and a formula of one.
bool MakesHostFileInPod(const api::TrainingJob& job);

// A script for /bin/sh that fills folder $2 with the files of folder $1, and the hostfile.
std::string FillScript(const api::TrainingJob& job);

// In pods whose launcher reads a hostfile that is made there: the volume with the gang's files is
// mounted at /etc/weft-files in an init container alone, which has the image of the first container
// that has accelerators and fills /etc/weft by FillScript. Elsewhere the spec stays as it is.
// Precondition: AddVolumes was called.
void AddFillContainer(const Gang& gang, std::uint32_t worker, nlohmann::json& spec);

}  // namespace weft::launch
