#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/placement/fill.h"

namespace weft::placement {

// Orders in which to lay the workers, best guess first. Neighbours in an order end up in one
// domain, so an order should walk the job's grid of axes tile by tile, with tiles of about the
// size of a domain and of the shape that cuts the fewest bytes.
//
// room[t]: how many workers a domain of tier t typically takes; the tiers between the home and the
// node, widest first, ending with the node.
// Cost  O(workers x orders + divisors^axes).
std::vector<Filler::Order> CandidateOrders(const Instance& instance, fabric::Tier home_tier,
                                           std::span<const std::uint64_t> room);

// Bytes per worker and step that cross each digit of the grid (digits fastest first).
std::vector<double> AxisWeights(const traffic::WorkerGraph& graph,
                                std::span<const std::uint32_t> grid);

// The tile (one size per digit, each a divisor of `box`) of at most `room` workers that cuts the
// fewest bytes per worker; ties go to the larger tile.
std::vector<std::uint32_t> BestTile(std::span<const std::uint32_t> grid,
                                    std::span<const std::uint32_t> box,
                                    std::span<const double> weights, std::uint64_t room);

}  // namespace weft::placement
