#pragma once

#include <cstdint>
#include <string>

#include "operator/api/training_job.h"
#include "operator/base/worker_index.h"

namespace weft::framework {

// A worker's number, zero-padded to the width of the last worker's, so that names sort like ranks.
std::string PaddedWorker(const api::TrainingJob& job, WorkerIndex worker);

// A worker's host name, the same in every attempt: "<job>-<i>".
std::string HostName(const api::TrainingJob& job, WorkerIndex worker);

// "<host name>.<job>": the worker's DNS name inside its namespace.
std::string AddressOf(const api::TrainingJob& job, WorkerIndex worker);

// Whether the job's pods use the node's host name and interfaces (hostNetwork).
bool OnHostNetwork(const api::TrainingJob& job);

}  // namespace weft::framework
