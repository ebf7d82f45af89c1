#pragma once

#include <cstdint>
#include <vector>

#include "operator/search/run_prices.h"

namespace weft::search {

// One step of a tiling: it places units of this many consecutive workers of the walk, each unit
// whole into one domain of the tier.
struct TilingStep {
  std::uint32_t unit = 1;
  fabric::Tier tier{0};

  friend bool operator==(const TilingStep&, const TilingStep&) = default;
};

// A walk over the workers, and the steps that place them. If a step finds no room for a unit, the
// next step, with smaller units or wider domains, places its workers. The last step is {1, node
// tier}.
struct Tiling {
  std::vector<WorkerIndex> walk;  // a permutation of the workers
  std::vector<TilingStep> steps;
  RunPrices::Kind prices = RunPrices::Kind::kMean;  // for choosing domains
  Int128 forecast = 0;                              // estimated cost (tilings.h)

  friend bool operator==(const Tiling&, const Tiling&) = default;
};

}  // namespace weft::search
