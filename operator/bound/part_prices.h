#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/bound/axes.h"
#include "operator/bound/nest_sum.h"

namespace weft::placement {

// The least sum over a nest: the bytes that leave sets in domains of each level, and the total by
// which that overestimates.
struct PricedSum {
  NestSum* nest = nullptr;
  NestSum::Leaving leaving;
  double surplus = 0;

  double Least(std::uint64_t most_steps, bool remember = false) const;
};

// The parts that one level's domains break units into. The first `inner` axes make a unit: a ring,
// an expert group, a stage.
struct PartsOf {
  std::size_t level = 0;
  double step = 0;  // of the level, in weight
  std::span<const GridAxis> axes;
  std::size_t inner = 1;
};

// A sum raised by prices; its `leaving` of the level points to the second member.
struct Raised {
  double least = 0;
  std::vector<double> leaving;
  double surplus = 0;
};

// What raising may cost. `steps` is used up: rounds end when none are left.
struct PriceLimits {
  std::uint32_t rounds = 0;
  std::uint64_t steps = 0;        // additions, in all
  std::uint64_t exact_steps = 0;  // additions for exact sums in each round
};

// Raises a sum by prices on parts.
//
// How: the sum lets every domain take the parts that leave least, whether or not all parts make up
// whole units: three leaves with 3 slots take 3, 3 and 2 workers of a group of 4 each, but two
// groups only come apart as 3 + 1 and 3 + 1. Let each part of c vertices cost price[c] more. The
// parts of one unit then cost at most D more, where D is the dearest way to divide a unit. So the
// sum at these prices, less D for every unit, is a bound too, whatever the prices. They follow the
// difference between the parts that the domains take and those of units divided the dearest way, in
// steps towards `target`.
//
// Cost    O(rounds x (sum over the nest + room^2 x axes)), with the largest room of the level's
//         domains; at most `limits.steps` additions and one round.
// Source  Gilmore and Gomory, "A linear programming approach to the cutting-stock problem",
//         Operations Research 9, 1961 (the prices); Camerini, Fratta and Maffioli, "On improving
//         relaxation methods by modified gradient techniques", Mathematical Programming Study 3,
//         1975 (the steps).
Raised RaiseByPrices(const PricedSum& sum, const PartsOf& parts, double target,
                     PriceLimits& limits);

}  // namespace weft::placement
