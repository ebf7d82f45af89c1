#include "operator/placement/objective.h"

#include <algorithm>

#include "operator/placement/node_set.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Domains are runs in tree order, so what holds the first and the last node holds all between.
Tier Hull(const Instance& instance, NodeIndex least, NodeIndex most) {
  return instance.pair_cost().SharedTier(least, most);
}

Tier HullOf(const Instance& instance, std::span<const std::uint32_t> workers,
            std::span<const NodeIndex> nodes) {
  NodeIndex least = nodes[workers.front()], most = least;
  for (std::uint32_t worker : workers) {
    least = std::min(least, nodes[worker]);
    most = std::max(most, nodes[worker]);
  }
  return Hull(instance, least, most);
}

Tier HullOfAll(const Instance& instance, std::span<const NodeIndex> nodes) {
  const auto [least, most] = std::minmax_element(nodes.begin(), nodes.end());
  return Hull(instance, *least, *most);
}

}  // namespace

Preferences Prefer(const Instance& instance, std::span<const NodeIndex> nodes) {
  Preferences preferences;
  const Request& request = instance.request();
  if (nodes.empty()) return preferences;
  if (request.preferred) {
    const Tier hull = HullOfAll(instance, nodes);
    if (hull < *request.preferred) preferences.levels_wider = *request.preferred - hull;
  }
  for (const GroupConstraint& group : request.groups) {
    if (!group.preferred) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      if (HullOf(instance, group.sets.set(s), nodes) < *group.preferred) {
        ++preferences.groups_missed;
      }
    }
  }
  return preferences;
}

Candidate Evaluate(const Instance& instance, std::vector<NodeIndex> nodes) {
  Candidate candidate;
  candidate.preferences = Prefer(instance, nodes);
  candidate.cost = Cost(instance.pair_cost(), instance.graph(), nodes);
  candidate.nodes = std::move(nodes);
  return candidate;
}

bool MeetsHardRules(const Instance& instance, std::span<const NodeIndex> nodes) {
  const Request& request = instance.request();
  std::vector<NodeIndex> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    if (end - i > instance.slots()[sorted[i]]) return false;
    i = end;
  }
  if (!nodes.empty() && request.required && HullOfAll(instance, nodes) < *request.required) {
    return false;
  }
  for (const GroupConstraint& group : request.groups) {
    if (!group.required) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      if (HullOf(instance, group.sets.set(s), nodes) < *group.required) return false;
    }
  }
  return true;
}

Footprint FootprintOf(const Instance& instance, std::span<const NodeIndex> nodes) {
  const NodeSet used(instance.slots().size(), nodes);
  Footprint footprint;
  for (Tier t = 1; t <= instance.node_tier(); ++t) {
    const std::vector<DomainIndex>& of_node = instance.fabric().domains(t).of_node;
    std::uint32_t broken = 0;
    std::uint64_t slots = 0;
    DomainIndex last = ~DomainIndex{0};
    used.ForEach([&](NodeIndex n) {
      const DomainIndex domain = of_node[n];
      if (domain == last) return;
      last = domain;
      broken += instance.wholly_free(t, domain) ? 1 : 0;
      slots += instance.SlotsIn(t, domain);
    });
    footprint.broken.push_back(broken);
    footprint.left.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(slots - nodes.size(), ~0U)));
  }
  return footprint;
}

bool NamesBefore(const fabric::Fabric& fabric, std::span<const NodeIndex> a,
                 std::span<const NodeIndex> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return fabric.name_rank(a[i]) < fabric.name_rank(b[i]);
  }
  return false;
}

Int128 CostLimit(Int128 least, int tolerance_percent) {
  return least + least / 100 * tolerance_percent + least % 100 * tolerance_percent / 100;
}

std::size_t Best(const Instance& instance, std::span<const Candidate> candidates,
                 int tolerance_percent) {
  Preferences preferences = candidates.front().preferences;
  for (const Candidate& c : candidates) preferences = std::min(preferences, c.preferences);
  Int128 least = -1;
  for (const Candidate& c : candidates) {
    if (c.preferences == preferences && (least < 0 || c.cost < least)) least = c.cost;
  }
  const Int128 limit = CostLimit(least, tolerance_percent);
  std::size_t best = candidates.size();
  Footprint best_footprint;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (c.preferences != preferences || c.cost > limit) continue;
    Footprint footprint = FootprintOf(instance, c.nodes);
    const bool better = best == candidates.size() || footprint < best_footprint ||
                        (footprint == best_footprint &&
                         NamesBefore(instance.fabric(), c.nodes, candidates[best].nodes));
    if (!better) continue;
    best = i;
    best_footprint = std::move(footprint);
  }
  return best;
}

}  // namespace weft::placement
