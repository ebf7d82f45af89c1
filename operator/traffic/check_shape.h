#pragma once

#include <cstdint>
#include <optional>

#include "operator/base/result.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// The checks that ComputeTraffic makes first: that the degrees divide the world.
Status CheckShape(const std::optional<Model>& model, const Parallelism& parallelism,
                  std::uint32_t workers, std::uint32_t per_worker);

}  // namespace weft::traffic
