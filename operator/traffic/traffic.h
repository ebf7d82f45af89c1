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
  kRing,        // member k sends to member k + 1, cyclic
  kNeighbours,  // member k exchanges with members k - 1 and k + 1 (pipeline stages)
  kAllToAll,    // each member sends the same amount to every other member
};

// One family of groups of one axis. An axis may have two families (dense and expert gradients).
//
// Shapes   members: groups x group_size ranks, group-major, in ring or stage order; every rank of
//          the world at most once. Families with group_size 1 are left out.
// Units    bytes, one optimizer step, sent by one rank, one direction.
struct GroupFamily {
  Axis axis = Axis::kTensor;
  Pattern pattern = Pattern::kRing;
  std::uint32_t group_size = 0;
  std::vector<std::uint32_t> members;

  // kRing: what each member sends to the next. kAllToAll: what each sends to each other member
  // (rounded per peer). kNeighbours: what one stage sends over one boundary, each way.
  std::int64_t amount = 0;
  // kNeighbours only: what the last and the first member exchange, each way (virtual pipeline). Two
  // stages are neighbours and ends at once: `amount` holds both there, rounded once, and this is 0.
  std::int64_t wrap_amount = 0;
  // kNeighbours with Measured: the first and the last member send this to their one neighbour
  // (twice `amount`, since a measured figure is per GPU); equal to `amount` for a Transformer.
  std::int64_t end_amount = 0;
  // Messages that one member sends in sequence in a step (messages.h), for the latency.
  std::int64_t messages = 0;

  std::size_t groups() const { return group_size == 0 ? 0 : members.size() / group_size; }
  std::span<const std::uint32_t> group(std::size_t g) const {
    return std::span(members).subspan(g * group_size, group_size);
  }
};

// All bytes of one job.
struct Traffic {
  std::uint32_t ranks = 0;
  std::uint32_t per_worker = 1;
  std::uint32_t workers = 0;
  bool modelled = false;  // false: no model given, one ring over all ranks at one byte a rank
  std::vector<GroupFamily> families;
  std::vector<SeatedGroups> seated;  // by family
};

// Fills `seated` from the families.
void SeatGroups(Traffic& traffic);

// The bytes that each rank sends to each peer in one optimizer step, by the formulas of DESIGN
// section 4. Exact: products and quotients of whole numbers, rounded half up to a byte once, at the
// end. Measured Sharding travels in the shard groups of Hybrid, else over the gradient group.
// Without a model the one ring over all ranks is on the axis Data.
//
// Errors   kInvalid with the field's path ("parallelism.expert: ...") where the world, expert,
//          shardGroupSize or the micro-batches do not divide, where a Transformer with expert > 1
//          has no moe, and where the bytes of one rank pass 2^56.
// Cost     O(ranks x axes) time and memory.
// Source   Narayanan et al., SC21; Korthikanti et al., 2022; Rajbhandari et al., ZeRO, 2020.
Result<Traffic> ComputeTraffic(const std::optional<Model>& model, const Parallelism& parallelism,
                               std::uint32_t workers, std::uint32_t per_worker);

// Degrees that divide: what ComputeTraffic checks before it computes.
Status CheckShape(const std::optional<Model>& model, const Parallelism& parallelism,
                  std::uint32_t workers, std::uint32_t per_worker);

// The sets of workers that must or should share a domain: the workers that hold a rank of one
// connected component of ranks joined by any of the axes' groups (DESIGN section 4, "A topology
// group's ranks"). Computed from the degrees alone, even if an axis sends nothing or no model is
// given. Each set ascending, equal sets once, sets in order of their least worker.
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
