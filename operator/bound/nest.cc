#include "operator/bound/nest.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/tree.h"

namespace weft::bound {

using fabric::ByNode;
using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::Instance;

namespace {

// Up to this many homes are bounded one by one; with more, one bound is computed for the rooms of
// all.
constexpr std::size_t kMostHomes = 16;

}  // namespace

Nest NestOfLevels(const Instance& instance) {
  Nest nest;
  std::int64_t narrower = 0;
  for (Tier t = instance.node_tier(); t >= Tier{1}; --t) {
    const std::int64_t wider = instance.pair_cost().LeastWeight(t - 1);
    const auto& domains = instance.fabric().domains(t);
    if (wider > narrower) {
      nest.push_back({t, wider - narrower, t == instance.node_tier() ? nullptr : &domains.of_node,
                      domains.size(), true});
    }
    narrower = std::max(narrower, wider);
  }
  return nest;
}

std::optional<PlaneNest> PlaneNest::Of(const Instance& instance) {
  const objective::PairCost& pair_cost = instance.pair_cost();
  const auto planes = pair_cost.planes();
  // On a torus, hops may cost less than a byte between two domains of a plane.
  if (planes.empty() || pair_cost.torus() != nullptr) return std::nullopt;
  std::int64_t least = planes.front().weight;
  for (const objective::PairCost::Plane& plane : planes) least = std::min(least, plane.weight);
  const Tier within = pair_cost.TierWithin(least);
  if (within == fabric::kOutside) return std::nullopt;
  PlaneNest made;
  const auto add = [&](Tier tier, std::int64_t step, ByNode<DomainIndex> of_node) {
    const std::uint32_t nodes = instance.fabric().node_count();
    made.of_node_.push_back(std::make_unique<ByNode<DomainIndex>>(std::move(of_node)));
    made.nest_.push_back({tier, step, made.of_node_.back().get(), nodes, false});
  };
  const Tier last = instance.node_tier();
  for (Tier t = last; t >= within; --t) {  // two nodes that share the tier use its own link
    const std::int64_t wider = t == within ? least : pair_cost.TierWeight(t - 1);
    const std::int64_t step = wider - pair_cost.TierWeight(t);
    const auto& domains = instance.fabric().domains(t);
    if (step > 0) {
      made.nest_.push_back({t, step, t == last ? nullptr : &domains.of_node, domains.size(), true});
    }
  }
  WEFT_CHECK(pair_cost.TierWeight(within - 1) > least);  // `within` is the widest tier within it
  add(within, pair_cost.TierWeight(within - 1) - least,
      objective::JoinedByPlanes(instance, planes, within));
  for (Tier t = within - 1; t >= Tier{1}; --t) {
    const std::int64_t step = pair_cost.TierWeight(t - 1) - pair_cost.TierWeight(t);
    if (step > 0) add(t, step, objective::JoinedByPlanes(instance, planes, t));
  }
  return made;
}

std::vector<Run> Homes(const Instance& instance, Tier home) {
  std::vector<Run> runs;
  const auto& begin = instance.fabric().domains(home).begin;
  for (DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d) {
    if (instance.SlotsIn(home, d) < instance.workers()) continue;
    runs.push_back({begin[d], begin[d + 1]});
    if (runs.size() > kMostHomes)
      return {{NodeIndex{0}, NodeIndex{instance.fabric().node_count()}}};
  }
  return runs;
}

SlotsOfLevel SlotsIn(const Instance& instance, const Level& level, Run run) {
  SlotsOfLevel in;
  if (run.begin == run.end) return in;
  if (!level.in_tree) {
    in.slots.assign(level.domains, 0);
    for (NodeIndex n = run.begin; n < run.end; ++n)
      in.slots[level.Of(n).Raw()] += instance.slots()[n];
    return in;
  }
  in.first = level.Of(run.begin);
  const DomainIndex end = level.Of(run.end - 1) + 1;
  WEFT_CHECK(in.first < end && end.Raw() <= level.domains);
  in.slots.reserve(end - in.first);
  const auto& begin = instance.fabric().domains(level.tier).begin;
  for (DomainIndex d = in.first; d < end; ++d) {
    const bool whole = begin[d] >= run.begin && begin[d + 1] <= run.end;
    std::uint64_t slots = whole ? instance.SlotsIn(level.tier, d) : 0;
    const NodeIndex last = std::min(begin[d + 1], run.end);
    for (NodeIndex n = std::max(begin[d], run.begin); !whole && n < last; ++n) {
      slots += instance.slots()[n];
    }
    in.slots.push_back(slots);
  }
  return in;
}

}  // namespace weft::bound
