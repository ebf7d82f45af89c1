#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::placement {

// How much work a placement is worth. All limits are counts of steps, never
// wall time: the same input gives the same answer on every machine.
enum class Effort : std::uint8_t {
  kQuick,     // one layout of the best kind, without local search
  kNormal,    // what the operator does
  kThorough,  // for a job that runs for weeks: seconds
};

struct SearchLimits {
  // Nodes of the exact search tree. Small jobs end well below it; larger ones
  // end at it.
  std::uint32_t exact_steps = 20'000;
  // Terms of the cost that the local search by single workers looks at.
  std::uint32_t improve_steps = 100'000;
  // Tilings laid into each home: those around the heaviest axes come first.
  std::uint32_t tilings = 40;
  // Proposals of the local search by pieces, for each start and size of piece: at least so many,
  // and so many for each piece, so that large jobs come to rest too.
  std::uint32_t refine_steps = 3'000;
  std::uint32_t refine_steps_per_piece = 12;
  // Placements that it starts from, the best of those laid out.
  std::uint32_t refine_starts = 4;
  // Cells that take part beside those in use.
  std::uint32_t refine_cells = 192;
  // Of all chance in the search.
  std::uint64_t seed = 1;
};

SearchLimits LimitsOf(Effort effort);
std::optional<Effort> FindEffort(std::string_view name);  // quick, normal, thorough

}  // namespace weft::placement
