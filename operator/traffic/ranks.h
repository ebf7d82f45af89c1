#pragma once

#include <cstdint>
#include <vector>

#include "operator/base/index.h"
#include "operator/base/worker_index.h"

namespace weft::traffic {

// A rank of a job, from 0. Worker w holds the ranks [w x per_worker, (w + 1) x per_worker).
using RankIndex = Index<struct RankTag>;
using Ranks = std::vector<RankIndex>;

constexpr WorkerIndex WorkerOf(RankIndex rank, std::uint32_t per_worker) {
  return WorkerIndex(rank.Raw() / per_worker);
}

}  // namespace weft::traffic
