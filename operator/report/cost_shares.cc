#include "operator/report/cost_shares.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/report/levels.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {
namespace {

std::int64_t LevelWeight(const objective::PairCost& pair_cost, const std::string& level) {
  if (const auto tier = pair_cost.fabric().FindTier(level)) return pair_cost.TierWeight(*tier);
  const auto networks = pair_cost.networks();
  const auto beside = std::find_if(networks.begin(), networks.end(),
                                   [&](const auto& network) { return network.name == level; });
  WEFT_CHECK(beside != networks.end());
  return beside->link->femtoseconds_per_byte;
}

// Adds the axis's total cost minus its shares.
void AddDegraded(const objective::PairCost& pair_cost, const traffic::Traffic& traffic,
                 objective::Nodes nodes, traffic::Axis axis, std::vector<CostShare>& shares) {
  const auto is_of_axis = [axis](const auto& family) { return family.axis == axis; };
  if (std::none_of(traffic.families.begin(), traffic.families.end(), is_of_axis)) return;
  Int128 extra = objective::Cost(pair_cost, traffic::WorkerGraph(traffic, axis), nodes);
  for (const CostShare& share : shares) {
    if (share.axis == axis) extra -= share.cost;
  }
  if (extra > 0) shares.push_back({axis, "missing rails", 0, 0, extra});
}

}  // namespace

double Hops(const CostShare& share) {
  if (share.bytes == 0) return 1;
  constexpr int kHundredths = 100;
  const Int128 hundredths = share.crossed / share.bytes * kHundredths +
                            share.crossed % share.bytes * kHundredths / share.bytes;
  return static_cast<double>(hundredths) / kHundredths;
}

// Flows give the bytes at each level; a byte costs the weight of its level for each link that it
// crosses.
std::vector<CostShare> ShareCost(const objective::PairCost& pair_cost,
                                 const traffic::Traffic& traffic, objective::Nodes nodes) {
  std::vector<CostShare> shares;
  const objective::Scores scores = ScoreAnyway(pair_cost, traffic, nodes);
  for (const objective::Flow& flow : scores.flows) {
    const Int128 cost = flow.crossed * LevelWeight(pair_cost, flow.level);
    if (cost == 0) continue;
    shares.push_back({flow.axis, flow.level, traffic.modelled ? flow.bytes : 0,
                      traffic.modelled ? flow.crossed : 0, cost});
  }
  if (!pair_cost.fabric().any_degraded()) return shares;
  for (int a = 0; a < traffic::kAxisCount; ++a) {
    AddDegraded(pair_cost, traffic, nodes, static_cast<traffic::Axis>(a), shares);
  }
  return shares;
}

}  // namespace weft::report
