#pragma once

#include <cstdint>
#include <vector>

#include "operator/traffic/spec.h"

namespace weft::traffic {

// The worker index as a mixed-radix number: the sizes of its digits, fastest first; their product
// is the number of workers. The digits are the axes in rank order, divided by the perWorker ranks
// of a worker, so neighbours on an axis are workers that differ in one digit. Digits of size 1 are
// left out; empty for one worker; {workers} if perWorker divides an axis unevenly.
std::vector<std::uint32_t> WorkerGrid(const Parallelism& parallelism, std::uint32_t workers,
                                      std::uint32_t per_worker);

}  // namespace weft::traffic
