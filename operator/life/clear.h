#pragma once

#include <optional>

#include "operator/life/life.h"

namespace weft::life {

// Deletes pods, then Placements. Nothing if both are gone.
std::optional<JobStep> Clear(const Life& life);

}  // namespace weft::life
