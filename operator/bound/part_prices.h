#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/bound/axes.h"
#include "operator/bound/nest_sum.h"

namespace weft::bound {

// A sum over a nest with its input: `leaving` holds the bytes that leave a set, by level and size;
// `surplus` is how much too high these bytes are in total.
struct PricedSum {
  NestSum* nest = nullptr;
  NestSum::Leaving leaving;
  double surplus = 0;

  double Least(std::uint64_t most_steps, bool remember = false) const;
};

// The parts into which the domains of one level divide units. The first `inner` axes make a unit: a
// ring, an expert group, a stage.
struct PartsOf {
  std::size_t level = 0;
  double step = 0;  // the level's step in weight
  std::span<const GridAxis> axes;
  std::size_t inner = 1;
};

// A sum raised by prices. `leaving` replaces the bytes of the priced level in PricedSum::leaving.
struct Raised {
  double least = 0;
  std::vector<double> leaving;
  double surplus = 0;
};

// Limits of RaiseByPrices. Each round reduces `steps`; no round starts when none are left.
struct PriceLimits {
  std::uint32_t rounds = 0;
  std::uint64_t steps = 0;        // additions in all rounds
  std::uint64_t exact_steps = 0;  // additions for exact sums in each round
};

// Raises a sum by prices on parts.
//
// How: in the sum every domain takes the parts that fewest bytes leave, even if these parts do not
// add up to whole units: leaves with 3 slots take parts of 3, 3 and 2, but two groups of 4 can only
// be divided into 3 + 1 and 3 + 1. Let each part of c vertices cost price[c] more. The parts of one
// unit then cost at most D more, where D is the dearest way to divide a unit. The sum at these
// prices minus D for every unit is therefore a bound too, for any prices. Each round moves the
// prices by the difference between the parts that the domains take and the parts of units divided
// the dearest way, in steps towards `target`.
//
// Cost    O(rounds x (sum over the nest + room^2 x axes)), where room is that of the level's
//         largest domain; at most `limits.steps` additions plus one round.
// Source  Gilmore and Gomory, "A linear programming approach to the cutting-stock problem",
//         Operations Research 9, 1961 (the prices); Camerini, Fratta and Maffioli, "On improving
//         relaxation methods by modified gradient techniques", Mathematical Programming Study 3,
//         1975 (the steps).
Raised RaiseByPrices(const PricedSum& sum, const PartsOf& parts, double target,
                     PriceLimits& limits);

}  // namespace weft::bound
