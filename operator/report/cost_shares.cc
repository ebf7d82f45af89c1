#include "operator/report/cost_shares.h"

#include <algorithm>

#include "operator/report/levels.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {
namespace {

std::int64_t LevelWeight(const placement::PairCost& pair_cost, const std::string& level) {
  const fabric::Fabric& fabric = pair_cost.fabric();
  if (const auto tier = fabric.FindTier(level)) return pair_cost.TierWeight(*tier);
  return fabric.scale_up_link().femtoseconds_per_byte;  // a crossing scale-up network
}

// Adds the axis's total cost minus its shares.
void AddDegraded(const placement::PairCost& pair_cost, const traffic::Traffic& traffic,
                 std::span<const fabric::NodeIndex> nodes, traffic::Axis axis,
                 std::vector<CostShare>& shares) {
  const auto is_of_axis = [axis](const auto& family) { return family.axis == axis; };
  if (std::none_of(traffic.families.begin(), traffic.families.end(), is_of_axis)) return;
  Int128 extra = placement::Cost(pair_cost, traffic::WorkerGraph(traffic, axis), nodes);
  for (const CostShare& share : shares) {
    if (share.axis == axis) extra -= share.cost;
  }
  if (extra > 0) shares.push_back({axis, "missing rails", 0, extra});
}

}  // namespace

// Flows give the bytes at each level; a byte costs the weight of its level.
std::vector<CostShare> ShareCost(const placement::PairCost& pair_cost,
                                 const traffic::Traffic& traffic,
                                 std::span<const fabric::NodeIndex> nodes) {
  std::vector<CostShare> shares;
  const placement::Scores scores = ScoreAnyway(pair_cost, traffic, nodes);
  for (const placement::Flow& flow : scores.flows) {
    const Int128 cost = flow.bytes * LevelWeight(pair_cost, flow.level);
    if (cost == 0) continue;
    shares.push_back({flow.axis, flow.level, traffic.modelled ? flow.bytes : 0, cost});
  }
  if (!pair_cost.fabric().any_degraded()) return shares;
  for (int a = 0; a < traffic::kAxisCount; ++a) {
    AddDegraded(pair_cost, traffic, nodes, static_cast<traffic::Axis>(a), shares);
  }
  return shares;
}

}  // namespace weft::report
