#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/knapsack.h"

namespace weft::placement {

// One step of a tiling: whole units of this many consecutive workers of the walk, each into one
// domain of the tier.
struct TilingStep {
  std::uint32_t unit = 1;
  fabric::Tier tier = 0;

  friend bool operator==(const TilingStep&, const TilingStep&) = default;
};

// A walk over the workers, and the steps that place it. Units for which a step finds no room are
// left to the next step, which has smaller units or wider domains. The last step is {1, node
// tier}.
struct Tiling {
  std::vector<std::uint32_t> walk;  // a permutation of the workers
  std::vector<TilingStep> steps;
  RunPrices::Kind prices = RunPrices::Kind::kMean;  // that domains are chosen by
  Int128 forecast = 0;                              // about what it costs (tilings.h)

  friend bool operator==(const Tiling&, const Tiling&) = default;
};

// Places tilings in a tree: Knapsack chooses the domains of each step; inside each domain the later
// steps do the same with the domain's workers.
//
// Cost  O(nodes of the home x steps), and the knapsacks'.
class Tiler {
 public:
  Tiler(const Instance& instance, const Tree& tree);

  // nodes[worker]; nothing where they do not fit.
  std::optional<std::vector<fabric::NodeIndex>> Lay(const Tiling& tiling);

 private:
  using Workers = std::span<const std::uint32_t>;

  bool LayFrom(std::size_t step, fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  // Units by domain of the step's tier inside the domain, into rooms_.
  std::uint64_t CountRooms(std::size_t step, fabric::Tier tier, fabric::DomainIndex domain);
  const RunPrices& PricesOf(std::uint32_t unit);

  const Instance& instance_;
  const Tree& tree_;
  const Tiling* tiling_ = nullptr;
  std::vector<std::uint32_t> free_;                // slots, by position
  std::vector<std::vector<std::uint32_t>> rooms_;  // tier x domain; scratch
  std::map<std::uint32_t, RunPrices> prices_;      // of the tiling's walk, by unit
  std::vector<fabric::NodeIndex> nodes_;
};

}  // namespace weft::placement
