#pragma once

#include <cstdint>

namespace weft::placement {

// How much work a placement is worth. All limits are counts of steps, never wall time: the same
// input gives the same answer on every machine.
enum class Effort : std::uint8_t {
  kQuick,     // one layout of the best kind, without local search
  kNormal,    // what the operator does
  kThorough,  // for a job that runs for weeks: seconds
};

struct SearchLimits {
  // Nodes of the exact search tree. Small jobs end well below it; larger ones end at it.
  std::uint32_t exact_steps = 20'000;
  // Terms of the cost that the local search by single workers looks at.
  std::uint32_t improve_steps = 100'000;
  // Proposals of the local search by pieces, for each start and size of piece.
  std::uint32_t refine_steps = 6'000;
  // Placements that it starts from, the best of those laid out.
  std::uint32_t refine_starts = 2;
  // Cells that take part beside those in use.
  std::uint32_t refine_cells = 192;
  // Of all chance in the search.
  std::uint64_t seed = 1;
};

SearchLimits LimitsOf(Effort effort);

}  // namespace weft::placement
