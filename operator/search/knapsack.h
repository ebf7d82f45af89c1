#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/tree.h"

namespace weft::placement {

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
  RunPrices(const traffic::WorkerGraph& graph, const Tree& tree,
            std::span<const std::uint32_t> walk, std::uint32_t unit, Kind kind = Kind::kMean);

  std::uint32_t units() const { return units_; }
  std::int64_t Of(fabric::Tier tier, std::uint32_t k) const {
    return prices_[tier][std::min(k, units_)];
  }

 private:
  std::uint32_t units_;
  std::vector<std::vector<std::int64_t>> prices_;  // tier x units
};

// Chooses how many units each domain of a tier takes, so that the sum of the prices over all
// domains up to the home is least. How: bottom up, it finds the cheapest way to fill each domain
// with k units, for every k. A domain directly above the bins fills the roomiest bins first, which
// is optimal if prices are concave in k. A wider domain tries, for each child, every number k of
// units with cost(k) < cost(k + 1); if there are many, only some of them and the corners of the
// child's convex hull. The numbers chosen may add up to more units than are wanted; the child with
// the fewest units then takes fewer.
//
// Cost  O(bins + children x units x options of a child) per domain.
class Knapsack {
 public:
  struct Share {
    fabric::DomainIndex bin = 0;
    std::uint32_t units = 0;
  };

  // `rooms`: how many units each domain of `bin_tier` can take.
  Knapsack(const Tree& tree, const RunPrices& prices, fabric::Tier bin_tier,
           std::span<const std::uint32_t> rooms);

  // Distributes as many of `units` as fit. The result is in tree order.
  std::vector<Share> Choose(fabric::Tier home, fabric::DomainIndex domain, std::uint32_t units);

 private:
  // The cheapest way to put k units into one domain, by k = 0, 1, ....
  struct Table {
    fabric::Tier tier = 0;
    fabric::DomainIndex domain = 0;
    std::vector<std::int64_t> cost;
    std::vector<Table> children;
    std::vector<std::uint32_t> sum;  // by k: k, or the next larger number of units that costs less
    std::vector<std::vector<std::int64_t>>
        given;  // child x k: units of this child, if it and the earlier children take k
  };

  Table Solve(fabric::Tier tier, fabric::DomainIndex domain, bool is_home);
  void FillBins(Table& table);
  void Combine(Table& table);
  void KeepRoomiest(std::vector<Table>& children) const;
  std::vector<fabric::DomainIndex> BinsByRoom(const Table& table) const;
  void Collect(const Table& table, std::uint32_t units, std::vector<Share>& shares) const;
  void CollectBins(const Table& table, std::uint32_t units, std::vector<Share>& shares) const;

  const Tree& tree_;
  const RunPrices& prices_;
  fabric::Tier bin_tier_;
  std::span<const std::uint32_t> rooms_;
  std::uint32_t wanted_ = 0;
};

}  // namespace weft::placement
