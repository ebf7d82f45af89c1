#include "operator/search/knapsack.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/lanes.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

// Only this many children of a domain, the roomiest, are considered: jobs use few domains of a wide
// tier.
constexpr std::size_t kMostChildren = 64;
// How many numbers of units are tried for one child. If there are more, only some of them and the
// hull's corners are.
constexpr std::size_t kMostOptions = 24, kFewestOptions = 6;
// Large jobs get fewer options: options times wanted units stay below this, but at least
// kFewestOptions remain.
constexpr std::size_t kMostSums = 49'152;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

// The corners of the lower convex hull of (k, cost[k]).
std::vector<std::uint32_t> HullOf(std::span<const std::int64_t> cost) {
  std::vector<std::uint32_t> hull = {0};
  for (std::uint32_t k = 1; k < cost.size(); ++k) {
    while (hull.size() > 1) {
      const std::uint32_t a = hull[hull.size() - 2], b = hull.back();
      const Int128 over = static_cast<Int128>(cost[b] - cost[a]) * (k - a) -
                          static_cast<Int128>(cost[k] - cost[a]) * (b - a);
      if (over < 0) break;
      hull.pop_back();
    }
    hull.push_back(k);
  }
  return hull;
}

// Lowers what is known to `cost` plus the price of a child.
WEFT_LANES void AddOption(const std::int64_t* __restrict cost, std::int64_t price,
                          std::int64_t* __restrict next, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) next[i] = std::min(next[i], cost[i] + price);
}

// Numbers of units to try for a domain: those after which one more costs more. If they are many:
// some of them, and the corners of the hull.
std::vector<std::uint32_t> OptionsOf(std::span<const std::int64_t> cost, std::uint32_t wanted) {
  const auto last = static_cast<std::uint32_t>(cost.size()) - 1;
  std::vector<std::uint32_t> options;
  for (std::uint32_t k = 1; k <= last; ++k) {
    if (k == last || cost[k + 1] > cost[k]) options.push_back(k);
  }
  const std::size_t most =
      std::clamp(kMostSums / std::max(1U, wanted), kFewestOptions, kMostOptions);
  if (options.size() <= most) return options;
  const std::size_t apart = options.size() / most + 1;
  std::vector<std::uint32_t> fewer = HullOf(cost);
  fewer.erase(fewer.begin());
  for (std::size_t i = apart - 1; i < options.size(); i += apart) fewer.push_back(options[i]);
  std::sort(fewer.begin(), fewer.end());
  fewer.erase(std::unique(fewer.begin(), fewer.end()), fewer.end());
  return fewer;
}

}  // namespace

Knapsack::Knapsack(const objective::Tree& tree, const RunPrices& prices, Tier bin_tier,
                   IndexSpan<DomainIndex, const std::uint32_t> rooms)
    : tree_(tree), prices_(prices), bin_tier_(bin_tier), rooms_(rooms) {}

std::vector<Knapsack::Share> Knapsack::Choose(Tier home, DomainIndex domain, std::uint32_t units) {
  wanted_ = units;
  const Table table = Solve(home, domain, true);
  std::vector<Share> shares;
  Collect(table, std::min<std::uint32_t>(units, static_cast<std::uint32_t>(table.cost.size()) - 1),
          shares);
  return shares;
}

Knapsack::Table Knapsack::Solve(Tier tier, DomainIndex domain, bool is_home) {
  Table table{.tier = tier, .domain = domain, .cost = {0}, .children = {}, .sum = {}, .costs = {}};
  if (tier == bin_tier_) {
    table.cost.resize(std::min(rooms_[domain], wanted_) + 1, 0);
  } else if (tier + 1 == bin_tier_) {
    FillBins(table);
  } else {
    const auto& begin = tree_.domains(tier).child_begin;
    for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
      Table child = Solve(tier + 1, c, false);
      if (child.cost.size() > 1) table.children.push_back(std::move(child));
    }
    KeepRoomiest(table.children);
    Combine(table);
  }
  if (is_home) return table;
  for (std::uint32_t k = 1; k < table.cost.size(); ++k) {
    table.cost[k] += prices_.Of(tier, k);
  }
  return table;
}

void Knapsack::KeepRoomiest(std::vector<Table>& children) const {
  if (children.size() <= kMostChildren) return;
  std::stable_sort(children.begin(), children.end(), [](const Table& a, const Table& b) {
    return a.cost.size() != b.cost.size() ? a.cost.size() > b.cost.size()
                                          : a.cost.back() < b.cost.back();
  });
  std::uint64_t room = 0;
  std::size_t kept = 0;
  for (; kept < children.size() && (kept < kMostChildren || room < 2 * std::uint64_t{wanted_});
       ++kept) {
    room += children[kept].cost.size() - 1;
  }
  children.erase(children.begin() + static_cast<std::ptrdiff_t>(kept), children.end());
  std::sort(children.begin(), children.end(),
            [](const Table& a, const Table& b) { return a.domain < b.domain; });
}

// The bins, roomiest first; among equals those in use already, then by index.
std::vector<DomainIndex> Knapsack::BinsByRoom(const Table& table) const {
  const auto& begin = tree_.domains(table.tier).child_begin;
  std::vector<DomainIndex> bins;
  for (DomainIndex c = begin[table.domain]; c < begin[table.domain + 1]; ++c) {
    if (rooms_[c] > 0) bins.push_back(c);
  }
  std::stable_sort(bins.begin(), bins.end(), [&](DomainIndex a, DomainIndex b) {
    if (rooms_[a] != rooms_[b]) return rooms_[a] > rooms_[b];
    return tree_.wholly_free(bin_tier_, a) < tree_.wholly_free(bin_tier_, b);
  });
  return bins;
}

void Knapsack::FillBins(Table& table) {
  const auto& begin = tree_.domains(table.tier).child_begin;
  std::vector<std::uint32_t>& rooms = rooms_of_bins_;
  rooms.clear();
  for (DomainIndex c = begin[table.domain]; c < begin[table.domain + 1]; ++c) {
    if (rooms_[c] > 0) rooms.push_back(std::min(rooms_[c], wanted_));
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  std::uint64_t all = 0;
  for (const std::uint32_t room : rooms) all += room;
  table.cost.reserve(std::min<std::uint64_t>(all, wanted_) + 1);
  std::int64_t full = 0;
  for (std::uint32_t room : rooms) {
    for (std::uint32_t k = 1; k <= room && table.cost.size() <= wanted_; ++k) {
      table.cost.push_back(full + prices_.Of(bin_tier_, k));
    }
    full += prices_.Of(bin_tier_, room);
  }
}

void Knapsack::Combine(Table& table) {
  std::vector<std::int64_t> cost = {0};
  for (const Table& child : table.children) {
    // The child is added to sums that lack units. Where it brings too many, the excess is removed
    // later.
    const std::size_t lacking = std::min<std::size_t>(wanted_, cost.size());
    const std::size_t size = std::max(cost.size(), lacking + child.cost.size() - 1);
    std::vector<std::int64_t> next(size, kNever);
    std::copy(cost.begin(), cost.end(), next.begin());
    for (const std::uint32_t k : OptionsOf(child.cost, wanted_)) {
      AddOption(cost.data(), child.cost[k], next.data() + k, lacking);
    }
    table.costs.push_back(std::exchange(cost, std::move(next)));
  }
  table.costs.push_back(cost);
  // If more than k units cost less than k, k uses that choice; the excess is removed later.
  table.cost = std::move(cost);
  table.sum.resize(table.cost.size());
  for (std::size_t k = table.cost.size(); k-- > 0;) {
    const bool more = k > 0 && k + 1 < table.cost.size() && table.cost[k + 1] < table.cost[k];
    table.sum[k] = more ? table.sum[k + 1] : static_cast<std::uint32_t>(k);
    if (more) table.cost[k] = table.cost[k + 1];
  }
  table.cost.resize(std::min<std::size_t>(table.cost.size(), wanted_ + 1));
}

void Knapsack::CollectBins(const Table& table, std::uint32_t units,
                           std::vector<Share>& shares) const {
  const std::vector<DomainIndex> bins = BinsByRoom(table);
  const std::size_t from = shares.size();
  for (std::size_t i = 0; i < bins.size() && units > 0; ++i) {
    std::size_t at = i;  // the first of the tightest bins that hold all units, else the roomiest
    for (std::size_t next = i + 1; next < bins.size() && rooms_[bins[next]] >= units; ++next) {
      if (rooms_[bins[next]] < rooms_[bins[at]]) at = next;
    }
    const std::uint32_t taken = std::min(units, rooms_[bins[at]]);
    shares.push_back({bins[at], taken});
    units -= taken;
  }
  WEFT_CHECK(units == 0);  // the table holds no more than the bins
  std::sort(shares.begin() + static_cast<std::ptrdiff_t>(from), shares.end(),
            [](const Share& a, const Share& b) { return a.bin < b.bin; });
}

// The units of each child that make up the least cost of `sum`: of several options the first.
std::vector<std::uint32_t> Knapsack::Taken(const Table& table, std::uint32_t sum) const {
  std::vector<std::uint32_t> taken(table.children.size(), 0);
  std::int64_t cost = table.costs.back()[sum];
  for (std::size_t c = table.children.size(); c-- > 0;) {
    const std::vector<std::int64_t>& earlier = table.costs[c];
    if (sum < earlier.size() && earlier[sum] == cost) continue;
    const std::size_t lacking = std::min<std::size_t>(wanted_, earlier.size());
    const std::vector<std::int64_t>& child = table.children[c].cost;
    for (const std::uint32_t k : OptionsOf(child, wanted_)) {
      if (k > sum || sum - k >= lacking || earlier[sum - k] + child[k] != cost) continue;
      taken[c] = k;
      sum -= k;
      cost = earlier[sum];
      break;
    }
  }
  WEFT_CHECK(sum == 0 && cost == 0);  // the choices add up to what was asked for
  return taken;
}

void Knapsack::Collect(const Table& table, std::uint32_t units, std::vector<Share>& shares) const {
  if (units == 0) return;
  if (table.tier == bin_tier_) return shares.push_back({table.domain, units});
  if (table.children.empty()) return CollectBins(table, units, shares);
  WEFT_CHECK(units < table.sum.size() && table.sum[units] >= units);
  const std::uint32_t sum = table.sum[units];
  std::vector<std::uint32_t> taken = Taken(table, sum);
  for (std::uint32_t excess = sum - units; excess > 0;) {  // from the child that takes least
    std::size_t least = table.children.size();
    for (std::size_t c = 0; c < taken.size(); ++c) {
      if (taken[c] > 0 && (least == taken.size() || taken[c] < taken[least])) least = c;
    }
    WEFT_CHECK(least < taken.size());  // the excess is part of what was taken
    const std::uint32_t less = std::min(excess, taken[least]);
    taken[least] -= less;
    excess -= less;
  }
  for (std::size_t c = 0; c < taken.size(); ++c) Collect(table.children[c], taken[c], shares);
}

}  // namespace weft::search
