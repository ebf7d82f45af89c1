#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::placement {

// Limits of the work for one placement. All are counts of steps, never wall time, so that the same
// input gives the same answer on every machine.
enum class Effort : std::uint8_t {
  kQuick,     // a few layouts, without local search by pieces
  kNormal,    // what the operator does
  kThorough,  // for a job that runs for weeks: seconds
};

struct SearchLimits {
  // Nodes of the exact search tree. Small jobs end well below it; larger ones
  // end at it.
  std::uint32_t exact_steps = 20'000;
  // Terms of the cost that the local search by single workers looks at.
  std::uint32_t improve_steps = 100'000;
  // Tilings laid into each home, those that promise to cost least first. Of large jobs fewer, since
  // one takes longer to lay: tilings times workers stay below the second number, as far as that
  // leaves `fewest_tilings`. Duplicates count: about half are.
  std::uint32_t tilings = 80, tiled_workers = 16'384, fewest_tilings = 12;
  // Proposals of the local search by pieces, for each size of piece: a least number, and a number
  // per piece, so that large jobs settle too. Each start gets a quarter, and the best results
  // `refine_rounds` times as many.
  std::uint32_t refine_steps = 3'000;
  std::uint32_t refine_steps_per_piece = 12;
  std::uint32_t refine_rounds = 4;
  // Rejected proposals in a row after which it ends early, plus a number for each piece: most large
  // jobs stop improving long before their steps run out.
  std::uint32_t refine_patience = 6'000, refine_patience_per_piece = 3;
  // Number of starts, from the best tilings; fewer for large jobs, since these cost more and
  // differ less. Starts times workers stay below the second number, as far as that leaves
  // `fewest_starts`.
  std::uint32_t refine_starts = 12, started_workers = 8'192, fewest_starts = 4;
  // Starts without a gain, times workers, after which no other start is tried: after two of them
  // the next one seldom gains.
  std::uint32_t vain_workers = 2'048;
  // Number of their results, best first, that get all steps; fewer for large jobs, at least
  // one. The best start often does not lead to the best end, and small jobs are searched in no
  // time.
  std::uint32_t refine_last = 4, last_workers = 1'536;
  // Pieces looked at while pairs of cells are divided anew, for each start and size of piece. Most
  // come to rest far below it.
  std::uint64_t exchange_steps = 10'000'000;
  // The search ends within cost >> enough_shift of the bound: 1 / 2048 is below what a user could
  // measure.
  int enough_shift = 11;
  // Cells that take part beside those in use.
  std::uint32_t refine_cells = 192;
  // Additions of the bound for exact sums over domains: a millisecond. Beyond, their lower
  // convex hulls are summed, which loses little where a job takes many domains.
  std::uint64_t bound_steps = 2'000'000;
  // Rounds that raise the bound by prices on parts, for each level and unit, where a gap is left
  // when the search has ended. Twice as many halve what is left of the way to the best prices.
  std::uint32_t price_rounds = 24;
  // Additions in all these rounds: some milliseconds. Enough for jobs of a few racks, which gain
  // most; those of a thousand workers gain less than a percent.
  std::uint64_t price_steps = 16'000'000;
  // Seed of the search.
  std::uint64_t seed = 1;

  std::uint32_t TilingsFor(std::uint32_t workers) const;
  std::uint32_t StartsFor(std::uint32_t workers) const;
  std::uint32_t LastFor(std::uint32_t workers) const;
  std::uint32_t StepsFor(std::uint32_t pieces) const;
  std::uint32_t PatienceFor(std::uint32_t pieces) const;
};

SearchLimits LimitsOf(Effort effort);
std::optional<Effort> FindEffort(std::string_view name);  // quick, normal, thorough

}  // namespace weft::placement
