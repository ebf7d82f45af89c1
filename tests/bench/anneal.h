#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::quality {

struct AnnealOptions {
  // Workers that may be moved for a trial, over all proposals.
  std::uint64_t steps = 20'000'000;
  // The share of proposals that raise the cost by a middling amount and are accepted at first: a
  // small one keeps most of a good start, a large one forgets the start.
  double first_accepted = 0.05;
  std::uint64_t seed = 1;
};

// Simulated annealing over the places of single workers and of whole units, to check the solver by
// something that shares only its prices (PairCost) and its rules with it. Stays in the domain that
// `required` and the preferences of `start` keep the job in. Returns the best placement that meets
// the rules, whose preferences are no worse than those of `start`; at worst `start` itself.
//
// Cost    O(steps x neighbours of a worker).
// Source  Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", Science 1983.
objective::Candidate Anneal(const objective::Instance& instance, const objective::Candidate& start,
                            const AnnealOptions& options);

// The workers in order on consecutive free slots of the domain of `like` that Anneal would stay in:
// the cheapest of some such placements. Nothing if none meets the rules.
std::optional<objective::Candidate> LayBlock(const objective::Instance& instance,
                                             const objective::Candidate& like);

}  // namespace weft::quality
