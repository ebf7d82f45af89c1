#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/placement/instance.h"

namespace weft::placement {

// One answer and what it is worth.
struct Candidate {
  std::vector<fabric::NodeIndex> nodes;  // by worker
  Preferences preferences;
  Int128 cost = 0;
};

Candidate Evaluate(const Instance& instance, std::vector<fabric::NodeIndex> nodes);
Preferences Prefer(const Instance& instance, std::span<const fabric::NodeIndex> nodes);

// Slots, `required` and the groups' `required`: all or nothing.
bool MeetsHardRules(const Instance& instance, std::span<const fabric::NodeIndex> nodes);

// What breaks a tie among answers of equal preferences and cost: broken wholly free domains, then
// free slots left in the domains used, each widest tier first without outside; then node names.
struct Footprint {
  std::vector<std::uint32_t> broken, left;

  friend auto operator<=>(const Footprint&, const Footprint&) = default;
};
Footprint FootprintOf(const Instance& instance, std::span<const fabric::NodeIndex> nodes);

// Lexicographic by name, worker by worker.
bool NamesBefore(const fabric::Fabric& fabric, std::span<const fabric::NodeIndex> a,
                 std::span<const fabric::NodeIndex> b);

// The best of the candidates by the whole order of DESIGN section 4: preferences, cost within the
// tolerance of the least, footprint, names. Index into `candidates`, which must not be empty.
std::size_t Best(const Instance& instance, std::span<const Candidate> candidates,
                 int tolerance_percent);

// The largest cost that counts as equal to `least`.
Int128 CostLimit(Int128 least, int tolerance_percent);

}  // namespace weft::placement
