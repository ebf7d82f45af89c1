#include "operator/cluster/device_pools.h"

#include <algorithm>
#include <string>

namespace weft::cluster {

std::int64_t Generation::InWhole(std::int64_t count) const {
  const auto written = static_cast<std::int64_t>(slices.size());
  const std::int64_t all = std::max(written, slices.front()->slices_in_pool);
  return (count * all + written - 1) / written;
}

std::int64_t OfType(const std::map<std::string, std::int64_t>& counts, std::string_view type) {
  std::int64_t sum = 0;
  for (const auto& [of, count] : counts) sum += type.empty() || of == type ? count : 0;
  return sum;
}

std::map<PoolKey, Generations> GenerationsOf(const api::Inputs& inputs) {
  std::map<PoolKey, Generations> pools;
  for (const api::ResourceSlice& slice : inputs.resource_slices) {
    Generation& of = pools[{slice.driver, slice.pool}][slice.generation];
    of.devices += OfType(slice.usable, "") + OfType(slice.tainted, "");
    of.slices.push_back(&slice);
  }
  return pools;
}

}  // namespace weft::cluster
