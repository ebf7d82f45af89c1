#pragma once

#include <vector>

#include "operator/base/index.h"

namespace weft::traffic {

// A rank of a job, from 0. Worker w holds the ranks [w x per_worker, (w + 1) x per_worker).
using RankIndex = Index<struct RankTag>;
using Ranks = std::vector<RankIndex>;

}  // namespace weft::traffic
