#include "operator/objective/units.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/units.h"

namespace weft::objective {

using traffic::Edge;

namespace {

constexpr std::size_t kMostMembers = 256;  // most members of a clique whose pairs become edges

std::uint32_t Product(std::span<const std::uint32_t> sizes) {
  std::uint32_t product = 1;
  for (std::uint32_t size : sizes) product *= size;
  return product;
}

}  // namespace

namespace units_internal {

void AddPairs(std::vector<traffic::Seat>& seats, std::int64_t bytes_per_rank_pair,
              std::vector<Edge>& raw) {
  std::sort(seats.begin(), seats.end(),
            [](const auto& x, const auto& y) { return x.worker < y.worker; });
  std::size_t kept = 0;
  for (const traffic::Seat& seat : seats) {
    if (kept > 0 && seats[kept - 1].worker == seat.worker) {
      seats[kept - 1].ranks += seat.ranks;
    } else {
      seats[kept++] = seat;
    }
  }
  if (kept > kMostMembers) return;
  for (std::size_t i = 0; i < kept; ++i) {
    for (std::size_t j = i + 1; j < kept; ++j) {
      const std::int64_t pairs = static_cast<std::int64_t>(seats[i].ranks) * seats[j].ranks;
      raw.push_back(
          {seats[i].worker, seats[j].worker, SaturatingMultiply(pairs, bytes_per_rank_pair)});
    }
  }
}

// A counting sort by a, then short runs by b.
std::vector<Edge> Merge(std::span<const Edge> raw, std::uint32_t count) {
  std::vector<std::uint32_t> end(count + 1, 0);
  for (const Edge& edge : raw) {
    WEFT_DCHECK(edge.a < edge.b && edge.b < count);
    ++end[edge.a + 1];
  }
  for (std::uint32_t v = 0; v < count; ++v) end[v + 1] += end[v];
  std::vector<std::uint32_t> next(end.begin(), end.end() - 1);
  std::vector<Edge> sorted(raw.size()), merged;
  for (const Edge& edge : raw) sorted[next[edge.a]++] = edge;
  for (std::uint32_t v = 0; v < count; ++v) {
    std::sort(sorted.begin() + end[v], sorted.begin() + end[v + 1],
              [](const Edge& x, const Edge& y) { return x.b < y.b; });
    for (std::uint32_t i = end[v]; i < end[v + 1]; ++i) {
      if (!merged.empty() && merged.back().a == v && merged.back().b == sorted[i].b) {
        merged.back().bytes = SaturatingAdd(merged.back().bytes, sorted[i].bytes);
      } else {
        merged.push_back(sorted[i]);
      }
    }
  }
  return merged;
}

}  // namespace units_internal

Units MakeUnits(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> tile,
                std::uint32_t workers) {
  WEFT_CHECK(tile.size() == grid.size());
  Units units;
  units.tile.assign(tile.begin(), tile.end());
  units.size = Product(tile);
  units.of.assign(workers, UnitIndex{0});
  std::uint32_t stride = 1, unit_stride = 1;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    WEFT_CHECK(tile[i] > 0 && grid[i] % tile[i] == 0);  // units are whole tiles
    for (std::uint32_t w = 0; w < workers; ++w) {
      units.of[w] = units.of[w] + w / stride % grid[i] / tile[i] * unit_stride;
    }
    stride *= grid[i];
    unit_stride *= grid[i] / tile[i];
    units.grid.push_back(grid[i] / tile[i]);
  }
  return units;
}

}  // namespace weft::objective
