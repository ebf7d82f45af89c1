#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/base/units.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"

namespace weft::cluster {

// Parts of sentences for people.

// "3 of 4 lack free nvidia.com/gpu; 1 of 4 is cordoned (spec.unschedulable)": the most frequent
// reasons, each with its number of nodes; "" if no node is rejected.
std::string RejectionsText(const std::vector<rules::RejectionCount>& rejections,
                           std::int64_t nodes);
// A sentence: "3 of 4 nodes lack free nvidia.com/gpu." or "No node has room: 4 of 4 lack ....".
std::string NoRoomText(const std::vector<rules::RejectionCount>& rejections, std::int64_t nodes);
// "24 nvidia.com/gpu", "1.5 cpu" (from 1500 thousandths), "16G memory".
std::string AmountText(const std::string& resource, std::int64_t amount);

// A sentence on the queue: "3 jobs wait ahead of it."; "" for none. Above ten it is rounded down to
// 10, 20, 50, 100, 200, ..., so that a long queue does not change every text whenever it moves.
std::string AheadText(std::size_t jobs);

// "a, b, c, d, e and 12 more": the first five names; the rest are counted.
std::string NameSome(const std::vector<std::string>& names);

// "1 spine, 2 leaf, 8 node": how many domains of each level.
std::string SpansText(const objective::Scores& scores);

}  // namespace weft::cluster
