#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/base/result.h"
#include "operator/traffic/seats.h"
#include "operator/traffic/spec.h"

namespace weft::traffic {

// How the ranks of one group communicate.
enum class Pattern : std::uint8_t {
  kRing,        // member k sends to member k + 1, the last to the first
  kNeighbours,  // member k exchanges with members k - 1 and k + 1 (pipeline stages)
  kAllToAll,    // each member sends the same amount to every other member
};

// One family of groups of one axis. An axis may have two families (dense and expert gradients).
//
// Shapes   members: groups x group_size ranks, group-major, in ring or stage order; each rank of
//          the world appears at most once. Families with group_size 1 are left out.
// Units    bytes that one rank sends in one direction in one optimizer step.
struct GroupFamily {
  Axis axis = Axis::kTensor;
  Pattern pattern = Pattern::kRing;
  std::uint32_t group_size = 0;
  std::vector<std::uint32_t> members;

  // Bytes that a member sends to the next one (kRing), that it sends to each other member
  // (kAllToAll, rounded per peer), or that cross the boundary of two stages each way (kNeighbours).
  std::int64_t amount = 0;
  // kNeighbours only: bytes between the last and the first member, each way (virtual pipeline).
  // With two stages, whose neighbours are also the ends, `amount` holds both and this is 0.
  std::int64_t wrap_amount = 0;
  // kNeighbours only: bytes that the first and the last member send to their one neighbour. Twice
  // `amount` for Measured, as a measured figure is per GPU; `amount` for a Transformer.
  std::int64_t end_amount = 0;
  // Messages that one member sends in sequence in a step (messages.h), for the latency.
  std::int64_t messages = 0;

  std::size_t groups() const { return group_size == 0 ? 0 : members.size() / group_size; }
  std::span<const std::uint32_t> group(std::size_t g) const {
    return std::span(members).subspan(g * group_size, group_size);
  }
};

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

// The checks that ComputeTraffic makes first: that the degrees divide the world.
Status CheckShape(const std::optional<Model>& model, const Parallelism& parallelism,
                  std::uint32_t workers, std::uint32_t per_worker);

// The sets of workers that a topology group keeps in one domain. The groups of the given axes
// connect ranks; a set is the workers of one connected component. Only the degrees matter: an axis
// may send nothing, and a model may be missing. Each set ascends, equal sets are listed once, and
// sets are in order of their least worker.
//
// Shapes   CSR: set s is workers[begin[s], begin[s + 1]).
struct WorkerSets {
  std::vector<std::uint32_t> begin = {0};
  std::vector<std::uint32_t> workers;

  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> set(std::size_t s) const {
    return std::span(workers).subspan(begin[s], begin[s + 1] - begin[s]);
  }
};
Result<WorkerSets> GroupWorkers(std::span<const Axis> axes, const Parallelism& parallelism,
                                std::uint32_t workers, std::uint32_t per_worker);

}  // namespace weft::traffic
