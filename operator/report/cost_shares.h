#pragma once

#include <span>
#include <string>
#include <vector>

#include "operator/objective/pair_cost.h"
#include "operator/traffic/traffic.h"

namespace weft::report {

// The cost of one axis at one level.
struct CostShare {
  traffic::Axis axis = traffic::Axis::kTensor;
  std::string level;
  Int128 bytes = 0;    // 0 if no model is given
  Int128 crossed = 0;  // sum of bytes x links that each byte crosses: more than bytes on a torus
  Int128 cost = 0;     // femtoseconds
};

// The links that a byte crosses on average, rounded down to hundredths: the hops on a torus. 1 if
// no model is given.
double Hops(const CostShare& share);

// The parts of a placement's cost C, by axis, then by level, widest first; their sum is C. The
// extra cost of missing rails is a separate part, "missing rails".
//
// Shapes  nodes: one per worker.
std::vector<CostShare> ShareCost(const objective::PairCost& pair_cost,
                                 const traffic::Traffic& traffic, objective::Nodes nodes);

}  // namespace weft::report
