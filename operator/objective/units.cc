#include "operator/objective/units.h"

#include "operator/base/check.h"

namespace weft::objective {

namespace {

std::uint32_t Product(std::span<const std::uint32_t> sizes) {
  std::uint32_t product = 1;
  for (std::uint32_t size : sizes) product *= size;
  return product;
}

}  // namespace

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
    for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
      units.of[w] = units.of[w] + w.Raw() / stride % grid[i] / tile[i] * unit_stride;
    }
    stride *= grid[i];
    unit_stride *= grid[i] / tile[i];
    units.grid.push_back(grid[i] / tile[i]);
  }
  return units;
}

}  // namespace weft::objective
