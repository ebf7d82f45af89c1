#pragma once

#include <cstdint>
#include <string>

#include "operator/api/kinds.h"

namespace weft::life {

// A worker's number, zero-padded to the width of the last one, so that names sort like ranks.
std::string PaddedWorker(const api::TrainingJob& job, std::uint32_t worker);

// "<job>-<i>": the host name of a worker, in every attempt.
std::string HostName(const api::TrainingJob& job, std::uint32_t worker);

// Whether the pod uses the node's host name and interfaces (hostNetwork).
bool OnHostNetwork(const api::TrainingJob& job);

}  // namespace weft::life
