#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/api/inputs.h"

namespace weft::cluster {

using PoolKey = std::pair<std::string_view, std::string_view>;  // driver, pool

// The slices of one generation of a pool. kube-scheduler looks only at the newest, and only if
// the driver has written all of it; until then its devices, or those of the generation before if
// they are more, are lost for a moment.
struct Generation {
  std::int64_t devices = 0;
  std::vector<const api::ResourceSlice*> slices;

  bool Complete() const {
    return static_cast<std::int64_t>(slices.size()) >= slices.front()->slices_in_pool;
  }

  // How many the whole pool has for so many, if the slices that are not written yet are like these.
  std::int64_t InWhole(std::int64_t count) const;
};

// Of each pool by its number, oldest first. Points into the inputs.
using Generations = std::map<std::int64_t, Generation>;
std::map<PoolKey, Generations> GenerationsOf(const api::Inputs& inputs);

// Of the counts by `type`, that of one type, or of all ("").
std::int64_t OfType(const std::map<std::string, std::int64_t>& counts, std::string_view type);

}  // namespace weft::cluster
