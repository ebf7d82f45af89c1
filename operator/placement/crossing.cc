#include "operator/placement/crossing.h"

#include <algorithm>

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

struct Domain {
  std::vector<NodeIndex> slots;  // each node once a slot, in tree order
  std::size_t taken = 0;

  std::size_t left() const { return slots.size() - taken; }
};

std::vector<Domain> DomainsIn(const Instance& instance, NodeIndex begin, NodeIndex end) {
  const auto of_node = instance.fabric().crossing_scale_up();
  std::vector<std::pair<DomainIndex, NodeIndex>> nodes;
  for (NodeIndex n = begin; n < end; ++n) {
    if (instance.slots()[n] > 0) nodes.emplace_back(of_node[n], n);
  }
  std::sort(nodes.begin(), nodes.end());
  std::vector<Domain> domains;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || nodes[i].first != nodes[i - 1].first) domains.emplace_back();
    domains.back().slots.insert(domains.back().slots.end(), instance.slots()[nodes[i].second],
                                nodes[i].second);
  }
  std::sort(domains.begin(), domains.end(),
            [](const Domain& a, const Domain& b) { return a.slots.front() < b.slots.front(); });
  return domains;
}

// How many units each domain takes: the roomiest first, the last one the
// tightest that fits.
std::vector<std::size_t> Units(const std::vector<Domain>& domains, std::size_t unit,
                               std::size_t wanted) {
  std::vector<std::size_t> order(domains.size()), units(domains.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto room = [&](std::size_t i) { return domains[i].left() / unit; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return room(a) > room(b); });
  for (std::size_t i = 0; i < order.size() && wanted > 0; ++i) {
    std::size_t at = i;
    while (room(order[i]) > wanted && at + 1 < order.size() && room(order[at + 1]) >= wanted) ++at;
    units[order[at]] = std::min(wanted, room(order[at]));
    wanted -= units[order[at]];
  }
  return units;
}

}  // namespace

std::optional<std::vector<NodeIndex>> LayAcross(const Instance& instance, Tier home,
                                                DomainIndex domain, const Tiling& tiling) {
  if (instance.fabric().crossing_scale_up().empty()) return std::nullopt;
  const auto& begin = instance.fabric().domains(home).begin;
  std::vector<Domain> domains = DomainsIn(instance, begin[domain], begin[domain + 1]);
  std::vector<NodeIndex> nodes(instance.workers(), 0);
  std::span<const std::uint32_t> workers = tiling.walk;
  std::size_t before = 0;  // a unit is tried once, whatever tiers it has steps for
  for (const TilingStep& step : tiling.steps) {
    if (step.unit == before || workers.empty()) continue;
    before = step.unit;
    const std::vector<std::size_t> units = Units(domains, step.unit, workers.size() / step.unit);
    for (std::size_t d = 0; d < domains.size(); ++d) {
      for (std::size_t i = 0; i < units[d] * step.unit; ++i) {
        nodes[workers[i]] = domains[d].slots[domains[d].taken++];
      }
      workers = workers.subspan(units[d] * step.unit);
    }
  }
  if (!workers.empty()) return std::nullopt;
  return nodes;
}

}  // namespace weft::placement
