#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// Deletes pods, then Placements. Nothing if both are gone.
std::optional<JobStep> Clear(const Life& life);

// While a pod of the job may still run: until that may change. Nothing if none runs.
std::optional<Wait> AwaitEnded(const Life& life);

}  // namespace weft::life
