#include "operator/bound/nest.h"

#include <algorithm>
#include <utility>

#include "operator/objective/tree.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Up to this many homes are bounded one by one; with more, one bound is computed for the rooms of
// all.
constexpr std::size_t kMostHomes = 16;

}  // namespace

Nest NestOfLevels(const Instance& instance) {
  Nest nest;
  std::int64_t narrower = 0;
  for (Tier t = instance.node_tier(); t >= 1; --t) {
    const std::int64_t wider = instance.pair_cost().LeastWeight(t - 1);
    const auto& domains = instance.fabric().domains(t);
    if (wider > narrower) {
      nest.push_back({t, wider - narrower, t == instance.node_tier() ? nullptr : &domains.of_node,
                      domains.size()});
    }
    narrower = std::max(narrower, wider);
  }
  return nest;
}

std::optional<CrossingNest> CrossingNest::Of(const Instance& instance) {
  const auto scale_up = instance.fabric().crossing_scale_up();
  const PairCost& pair_cost = instance.pair_cost();
  const Tier last = instance.node_tier();
  const std::int64_t inside = pair_cost.LeastWeight(last - 1);
  const std::int64_t between = pair_cost.TierWeight(last - 1);
  // On a torus, hops may cost less than a byte between two scale-up domains.
  if (scale_up.empty() || between <= inside || pair_cost.torus() != nullptr) return std::nullopt;
  CrossingNest crossing;
  const auto add = [&](Tier tier, std::int64_t step, std::vector<DomainIndex> of_node) {
    const NodeIndex nodes = instance.fabric().node_count();
    crossing.of_node_.push_back(std::make_unique<std::vector<DomainIndex>>(std::move(of_node)));
    crossing.nest_.push_back({tier, step, crossing.of_node_.back().get(), nodes});
  };
  crossing.nest_.push_back({last, inside, nullptr, instance.fabric().node_count()});
  add(last, between - inside, {scale_up.begin(), scale_up.end()});
  for (Tier t = last - 1; t >= 1; --t) {
    const std::int64_t step = pair_cost.TierWeight(t - 1) - pair_cost.TierWeight(t);
    if (step > 0) add(t, step, JoinedByScaleUp(instance, t));
  }
  return crossing;
}

std::vector<Run> Homes(const Instance& instance, Tier home) {
  std::vector<Run> runs;
  const auto& begin = instance.fabric().domains(home).begin;
  for (DomainIndex d = 0; d + 1 < begin.size(); ++d) {
    if (instance.SlotsIn(home, d) < instance.workers()) continue;
    runs.push_back({begin[d], begin[d + 1]});
    if (runs.size() > kMostHomes) return {{0, instance.fabric().node_count()}};
  }
  return runs;
}

}  // namespace weft::placement
