#include "operator/report/levels.h"

#include <algorithm>

namespace weft::report {

std::vector<LevelBytes> LevelBytesOf(const fabric::Fabric& fabric,
                                     const objective::Scores& scores) {
  std::vector<LevelBytes> levels;
  for (fabric::Tier t{0}; t < fabric.node_tier(); ++t) {
    levels.push_back({fabric.tiers()[t].name, 0, 0});
  }
  const std::size_t tiers = levels.size();
  for (const fabric::Plane& plane : fabric.planes()) levels.push_back({plane.name, 0, 0});
  if (fabric.torus() != nullptr) levels.push_back({fabric.spec().torus->name, 0, 0});
  for (const objective::Flow& flow : scores.flows) {
    const auto level = std::find_if(levels.begin(), levels.end(),
                                    [&](const LevelBytes& one) { return one.level == flow.level; });
    if (level != levels.end()) level->bytes += flow.bytes;
  }
  Int128 wider = 0;
  for (std::size_t l = 0; l < tiers; ++l) {
    levels[l].crossing = wider;
    wider += levels[l].bytes;
  }
  return levels;
}

void AddLevels(const std::vector<LevelBytes>& more, std::vector<LevelBytes>& sum) {
  for (const LevelBytes& one : more) {
    const auto found = std::find_if(
        sum.begin(), sum.end(), [&](const LevelBytes& other) { return other.level == one.level; });
    if (found == sum.end()) {
      sum.push_back(one);
      continue;
    }
    found->bytes += one.bytes;
    found->crossing += one.crossing;
  }
}

objective::Scores ScoreAnyway(const objective::PairCost& pair_cost, const traffic::Traffic& traffic,
                              objective::Nodes nodes) {
  if (traffic.modelled) return objective::Score(pair_cost, traffic, nodes);
  traffic::Traffic ring = traffic;
  ring.modelled = true;
  return objective::Score(pair_cost, ring, nodes);
}

}  // namespace weft::report
