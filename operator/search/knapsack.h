#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/search/run_prices.h"

namespace weft::search {

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
    fabric::DomainIndex bin{0};
    std::uint32_t units = 0;
  };

  // `rooms`: how many units each domain of `bin_tier` can take.
  Knapsack(const objective::Tree& tree, const RunPrices& prices, fabric::Tier bin_tier,
           IndexSpan<fabric::DomainIndex, const std::uint32_t> rooms);

  // Distributes as many of `units` as fit. The result is in tree order.
  std::vector<Share> Choose(fabric::Tier home, fabric::DomainIndex domain, std::uint32_t units);

 private:
  // The cheapest way to put k units into one domain, by k = 0, 1, ....
  struct Table {
    fabric::Tier tier{0};
    fabric::DomainIndex domain{0};
    std::vector<std::int64_t> cost;
    std::vector<Table> children;
    std::vector<std::uint32_t> sum;  // by k: k, or the next larger number of units that costs less
    // (child, then all) x k: the least cost if the children before it take k.
    std::vector<std::vector<std::int64_t>> costs;
  };

  Table Solve(fabric::Tier tier, fabric::DomainIndex domain, bool is_home);
  void FillBins(Table& table);
  void Combine(Table& table);
  std::vector<std::uint32_t> Taken(const Table& table, std::uint32_t sum) const;
  void KeepRoomiest(std::vector<Table>& children) const;
  std::vector<fabric::DomainIndex> BinsByRoom(const Table& table) const;
  void Collect(const Table& table, std::uint32_t units, std::vector<Share>& shares) const;
  void CollectBins(const Table& table, std::uint32_t units, std::vector<Share>& shares) const;

  const objective::Tree& tree_;
  const RunPrices& prices_;
  fabric::Tier bin_tier_;
  IndexSpan<fabric::DomainIndex, const std::uint32_t> rooms_;
  std::uint32_t wanted_ = 0;
  std::vector<std::uint32_t> rooms_of_bins_;  // scratch
};

}  // namespace weft::search
