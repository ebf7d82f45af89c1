#pragma once

#include <string>
#include <vector>

#include "operator/objective/scores.h"
#include "operator/report/compare.h"

namespace weft::report {

// Bytes by level from the flows of a placement: outside first, the node left out. A scale-up
// network that crosses the levels comes last and has no bytes that leave it.
std::vector<LevelBytes> LevelBytesOf(const fabric::Fabric& fabric, const placement::Scores& scores);

// Adds level by level, by name.
void AddLevels(const std::vector<LevelBytes>& more, std::vector<LevelBytes>& sum);

// Scores with flows also where no model is given: one ring over the ranks at one byte a rank.
placement::Scores ScoreAnyway(const placement::PairCost& pair_cost, const traffic::Traffic& traffic,
                              std::span<const fabric::NodeIndex> nodes);

}  // namespace weft::report
