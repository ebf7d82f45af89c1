#include "operator/objective/wide_bytes.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/instance.h"

namespace weft::objective {
namespace {

using fabric::DomainIndex;
using fabric::Tier;
using traffic::Clique;
using traffic::Seat;

// Pairs of ranks of a clique in different workers.
Int128 PairsOf(const Clique& clique) {
  Int128 all = 0, squares = 0;
  for (const Seat& seat : clique.members) {
    all += seat.ranks;
    squares += Int128{seat.ranks} * seat.ranks;
  }
  return (all * all - squares) / 2;
}

class Wide {
 public:
  Wide(const Instance& instance, Nodes nodes)
      : pair_cost_(instance.pair_cost()),
        graph_(instance.graph()),
        nodes_(nodes),
        by_levels_(!pair_cost_.beside_tiers()) {}

  Int128 Leaving(Tier tier) const {
    Int128 bytes = 0;
    for (const traffic::Edge& edge : graph_.edges()) {
      if (Leaves(tier, edge.a, edge.b)) bytes += edge.bytes;
    }
    for (const Clique& clique : graph_.cliques()) {
      const Int128 pairs = by_levels_ ? PairsBetween(tier, clique) : PairsThatLeave(tier, clique);
      bytes += pairs * clique.bytes_per_rank_pair;
    }
    return bytes;
  }

 private:
  bool Leaves(Tier tier, WorkerIndex a, WorkerIndex b) const {
    if (nodes_[a] == kUnplaced || nodes_[b] == kUnplaced) return false;
    return LeavesDomain(pair_cost_, tier, nodes_[a], nodes_[b]);
  }

  Int128 PairsThatLeave(Tier tier, const Clique& clique) const {
    Int128 pairs = 0;
    for (std::size_t i = 0; i < clique.members.size(); ++i) {
      for (std::size_t j = i + 1; j < clique.members.size(); ++j) {
        const Seat &a = clique.members[i], &b = clique.members[j];
        if (Leaves(tier, a.worker, b.worker)) pairs += Int128{a.ranks} * b.ranks;
      }
    }
    return pairs;
  }

  Int128 PairsBetween(Tier tier, const Clique& clique) const {
    const auto& of_node = pair_cost_.fabric().domains(tier).of_node;
    std::vector<std::pair<DomainIndex, std::int64_t>> ranks;
    for (const Seat& seat : clique.members) {
      if (nodes_[seat.worker] == kUnplaced) continue;
      ranks.emplace_back(of_node[nodes_[seat.worker]], seat.ranks);
    }
    std::sort(ranks.begin(), ranks.end());
    Int128 all = 0, together = 0;
    for (std::size_t i = 0; i < ranks.size();) {
      Int128 in_domain = 0;
      const DomainIndex domain = ranks[i].first;
      for (; i < ranks.size() && ranks[i].first == domain; ++i) in_domain += ranks[i].second;
      all += in_domain;
      together += in_domain * in_domain;
    }
    return (all * all - together) / 2;
  }

  const PairCost& pair_cost_;
  const traffic::WorkerGraph& graph_;
  const Nodes nodes_;
  const bool by_levels_;  // no network beside the levels
};

}  // namespace

bool LeavesDomain(const PairCost& pair_cost, Tier tier, fabric::NodeIndex a, fabric::NodeIndex b) {
  const auto& of_node = pair_cost.fabric().domains(tier).of_node;
  if (of_node[a] == of_node[b]) return false;
  return !pair_cost.beside_tiers() ||
         pair_cost.CarryingNetwork(a, b) < pair_cost.fabric().tiers().size();
}

Int128 BytesLeaving(const Instance& instance, Tier tier, Nodes nodes) {
  return Wide(instance, nodes).Leaving(tier);
}

std::vector<std::uint32_t> WideBytes(const Instance& instance, Nodes nodes) {
  const auto levels = instance.pair_cost().free_levels();
  if (levels.empty()) return {};
  Int128 all = 0;
  for (const traffic::Edge& edge : instance.graph().edges()) all += edge.bytes;
  for (const Clique& clique : instance.graph().cliques()) {
    all += PairsOf(clique) * clique.bytes_per_rank_pair;
  }
  constexpr Int128 kMillion = 1'000'000;
  const Wide wide(instance, nodes);
  std::vector<std::uint32_t> shares;
  for (const Tier tier : levels) {
    const Int128 leaving = wide.Leaving(tier);
    WEFT_CHECK(leaving >= 0 && leaving <= all);  // shares are parts of a million
    shares.push_back(all == 0 ? 0
                              : static_cast<std::uint32_t>((leaving * kMillion + all - 1) / all));
  }
  return shares;
}

}  // namespace weft::objective
