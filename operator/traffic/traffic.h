#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/base/result.h"
#include "operator/traffic/group_family.h"
#include "operator/traffic/seats.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// All traffic of one job.
struct Traffic {
  std::uint32_t ranks = 0;
  std::uint32_t per_worker = 1;
  std::uint32_t workers = 0;
  bool modelled = false;  // false: no model; one ring over all ranks, one byte a rank
  std::vector<GroupFamily> families;
  std::vector<SeatedGroups> seated;  // by family
};

// Fills `seated` from the families.
void SeatGroups(Traffic& traffic);

// The bytes that each rank sends to each peer in one optimizer step, by the formulas of
// volumes.cc. They are exact products and quotients of whole numbers, rounded half up to a byte
// once, at the end. Measured Sharding bytes go around the shard groups if sharding is Hybrid, else
// around the gradient group. Without a model, one ring over all ranks is on the axis Data.
//
// Errors   kInvalid with the field's path ("parallelism.expert: ...") if a degree,
//          shardGroupSize or the micro-batch does not divide what it must, if a Transformer with
//          expert > 1 has no moe, or if the bytes of one rank exceed 2^56.
// Cost     O(ranks x axes) time and memory.
// Source   Narayanan et al., SC21; Korthikanti et al., 2022; Rajbhandari et al., ZeRO, 2020.
Result<Traffic> ComputeTraffic(const std::optional<Model>& model, const Parallelism& parallelism,
                               std::uint32_t workers, std::uint32_t per_worker);

// The groups of the family of Data or Sharding whose ranks send most, if all traffic of a model
// goes around rings of these axes and of Tensor; else null. The step of such a job follows its
// slowest ring.
const SeatedGroups* LargestRing(const Traffic& traffic);

}  // namespace weft::traffic
