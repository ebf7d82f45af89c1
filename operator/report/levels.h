#pragma once

#include <span>
#include <string>
#include <vector>

#include "operator/base/units.h"
#include "operator/fabric/fabric.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/scores.h"
#include "operator/traffic/traffic.h"

namespace weft::report {

// Bytes at one level of the fabric in one optimizer step.
struct LevelBytes {
  std::string level;
  Int128 bytes = 0;     // between nodes whose narrowest shared level this is
  Int128 crossing = 0;  // that leave a domain of this level
};

// Bytes by level from the flows of a placement: outside first, without the node. Networks beside
// the levels come last; they have no bytes that leave them.
std::vector<LevelBytes> LevelBytesOf(const fabric::Fabric& fabric, const objective::Scores& scores);

// Adds the bytes of levels with the same name.
void AddLevels(const std::vector<LevelBytes>& more, std::vector<LevelBytes>& sum);

// Scores that have flows even without a model: one ring over the ranks, with one byte per rank.
objective::Scores ScoreAnyway(const objective::PairCost& pair_cost, const traffic::Traffic& traffic,
                              objective::Nodes nodes);

}  // namespace weft::report
