#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/base/worker_index.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// Capacity of a ConfigMap, for names and contents of its files together (Kubernetes' API reference,
// ConfigMap v1: "The data stored ... must not exceed 1 MiB").
inline constexpr std::size_t kConfigMapBytes = std::size_t{1} << 20;

// The hostfile with the workers in order, in the form of the framework (framework/traits.h):
//   DeepSpeed         "<address> slots=<GPUs>"
//   Open MPI          a line for each rank; worker 0 has its bare host name, the only name by which
//                     Open MPI recognises the host that mpirun runs on
//   Intel MPI, MPICH  "<address>:<GPUs>"
std::string HostFile(const api::TrainingJob& job);
std::size_t HostFileBytes(const api::TrainingJob& job);  // 0 for the other frameworks. Cost  O(1)

// Whether the hostfile would fill more than half of a ConfigMap. FillScript then writes it in the
// pods from a short formula: 16,384 workers of eight ranks have 11 MB of lines.
bool MakesHostFileInPod(const api::TrainingJob& job);

// A script for /bin/sh that copies the files of folder $1 to folder $2 and writes the hostfile
// there.
std::string FillScript(const api::TrainingJob& job);

// If MakesHostFileInPod, changes the spec of a pod whose launcher reads a hostfile: only a new init
// container mounts the gang's files, at /etc/weft-files, and fills /etc/weft by FillScript. Its
// image is that of the first container with accelerators. Other specs stay unchanged. Precondition:
// AddVolumes was called.
void AddFillContainer(const Gang& gang, WorkerIndex worker, nlohmann::json& spec);

}  // namespace weft::launch
