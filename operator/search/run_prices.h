#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/tree.h"

namespace weft::search {

// The price, by tier, of a domain that takes a run of k consecutive units of a walk: the step in
// weight to the next wider tier times the bytes that leave the run. Prices are scaled down so that
// their sums fit in 64 bits.
//
//   kMean  mean over all runs of the walk, seen as a ring; right if runs begin anywhere
//   kLeast least over runs that begin at or near multiples of k; right if a domain takes units that
//          belong together, such as half of a pipeline's stages
class RunPrices {
 public:
  enum class Kind : std::uint8_t { kMean, kLeast };
  // `walk`: a permutation of the workers; unit q is walk[q * unit, (q + 1) * unit).
  RunPrices(const traffic::WorkerGraph& graph, const objective::Tree& tree,
            std::span<const WorkerIndex> walk, std::uint32_t unit, Kind kind = Kind::kMean);

  std::uint32_t units() const { return units_; }
  std::int64_t Of(fabric::Tier tier, std::uint32_t k) const {
    return prices_[tier][std::min(k, units_)];
  }

 private:
  std::uint32_t units_;
  fabric::ByTier<std::vector<std::int64_t>> prices_;  // tier x units
};

}  // namespace weft::search
