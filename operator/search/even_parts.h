#pragma once

#include <optional>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// The placement with the parts of its ring (Request::ring) divided more evenly among scale-up
// domains, where the smallest part slows the ring (objective/ring_rate.h). Tilings fill domains one
// after the other, so the last one often takes a few workers; workers that follow it or go before
// it in the ring can move there at no cost.
//
// How     A run is the workers of consecutive members of a group in one domain. Runs that are too
//         small grow, the longest ones shrink; the order of the runs stays. A domain without room
//         for its run changes places with the nearest unused domain that has it. Groups whose runs
//         are in the same domains are cut at the same members, so that tensor groups stay whole.
// Returns nothing if no run is too small, or if the result breaks a hard rule. The result may cost
// more than `start`; it is a candidate among others.
// Cost    O(seats of the ring x (tiers + log seats) + scale-up domains x runs that lack room).
std::optional<objective::Candidate> EvenParts(const objective::Instance& instance,
                                              const objective::Candidate& start);

}  // namespace weft::search
