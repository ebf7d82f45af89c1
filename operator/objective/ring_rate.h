#pragma once

#include <cstdint>
#include <optional>

#include "operator/objective/nodes.h"

namespace weft::objective {

class Instance;

// How much the smallest part of the job's ring (Request::ring) slows it: the time of a collective
// over the ring in percent of its time if all members shared one scale-up domain; rounded up, at
// least 100.
//
//   max over tiers t down to the scale-up network's, over domains d of t that hold a part of a
//   group:
//     exits(d) x weight(t - 1) / (members(d) x weight(scale-up))
//
// The members of the group in d send at the same time: their rates add up, and are divided by the
// number of times that the ring leaves d.
// 0 if every group is inside one domain. Of a partial placement, workers without a node count as
// members of every domain, so that the value is a lower bound for its completions. Nothing if the
// request has no ring, or the fabric no scale-up network that nests in the levels and is faster
// than them for this job, or a network beside the levels.
//
// Cost    O(seats of the ring + domains of these tiers).
// Source  operator/outlook/placed_network.h, which predicts steps this way.
std::optional<std::uint32_t> RingPercent(const Instance& instance, Nodes nodes);

}  // namespace weft::objective
