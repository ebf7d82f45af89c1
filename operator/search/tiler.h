#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/run_prices.h"
#include "operator/search/tiling.h"

namespace weft::search {

// Places tilings in a tree: Knapsack chooses the domains of each step; later steps place the
// workers of each domain inside it in the same way. Prices of the kind kLeast hold only for runs
// that begin at borders of tiles. With these prices the chosen domains are put in an order that
// cuts the walk near borders of tiles (align.h); otherwise they stay in tree order.
//
// Cost  O(nodes of the home x steps), plus the cost of the knapsacks.
class Tiler {
 public:
  Tiler(const objective::Instance& instance, const objective::Tree& tree);

  // Returns the node of each worker, or nothing if they do not fit.
  std::optional<ByWorker<fabric::NodeIndex>> Lay(const Tiling& tiling);

 private:
  using Workers = std::span<const WorkerIndex>;

  bool LayFrom(std::size_t step, fabric::Tier tier, fabric::DomainIndex domain, Workers workers);
  // Fills rooms_: the units that fit in each domain of the step's tier inside `domain`.
  std::uint64_t CountRooms(std::size_t step, fabric::Tier tier, fabric::DomainIndex domain);
  const RunPrices& PricesOf(std::uint32_t unit);

  // What was computed about a walk: several tilings have the same.
  struct KnownWalk {
    std::map<std::pair<std::uint32_t, RunPrices::Kind>, RunPrices> prices;  // by unit size
    std::vector<Int128> cuts;
  };

  const objective::Instance& instance_;
  const objective::Tree& tree_;
  const Tiling* tiling_ = nullptr;
  std::vector<std::uint32_t> free_;                        // slots, by position
  fabric::ByTier<fabric::ByDomain<std::uint32_t>> rooms_;  // tier x domain; scratch
  std::map<std::vector<WorkerIndex>, KnownWalk> known_;
  KnownWalk* walk_ = nullptr;  // of the tiling
  ByWorker<fabric::NodeIndex> nodes_;
  bool aligned_ = false;  // domains in the order of AlignShares instead of tree order
};

}  // namespace weft::search
