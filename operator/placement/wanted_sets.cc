#include "operator/placement/wanted_sets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/base/check.h"

namespace weft::placement {

using fabric::ByDomain;
using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Of a level's domains, how many are given up, one by one, and how many may replace each.
constexpr std::size_t kGivenUp = 4, kReplacing = 6;
// How many of the least wanted nodes are given up, one by one.
constexpr std::size_t kNodesGivenUp = 4;

class Sets {
 public:
  Sets(const Wants& wants, objective::Nodes placement)
      : wants_(wants), placement_(placement), used_(placement.begin(), placement.end()) {
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    for (const NodeIndex n : placement) sum_ += wants_.unwanted(n);
  }

  std::vector<NodeChoice> Run() {
    for (Tier t{0}; t < wants_.fabric().node_tier(); ++t) AddOfLevel(t);
    AddWithoutOneNode();
    std::stable_sort(sets_.begin(), sets_.end(),
                     [](const auto& a, const auto& b) { return a.sum < b.sum; });
    return std::move(sets_);
  }

 private:
  // The part of the placement in one domain.
  struct Share {
    DomainIndex domain{0};
    std::uint64_t workers = 0;
    std::int64_t sum = 0;
  };
  // A domain that the placement does not use, and its nodes in place of a share's.
  struct Other {
    DomainIndex domain{0};
    NodeChoice choice;
  };

  void Add(NodeChoice choice) {
    if (!choice.nodes.empty() && choice.sum < sum_) sets_.push_back(std::move(choice));
  }

  // The shares of a level, the least wanted first.
  std::vector<Share> Shares(Tier tier) const {
    const auto& of_node = wants_.fabric().domains(tier).of_node;
    std::map<DomainIndex, Share> by_domain;
    for (const NodeIndex n : placement_) {
      Share& share = by_domain[of_node[n]];
      share.domain = of_node[n];
      ++share.workers;
      share.sum += wants_.unwanted(n);
    }
    std::vector<Share> shares;
    for (const auto& [domain, share] : by_domain) shares.push_back(share);
    std::stable_sort(shares.begin(), shares.end(),
                     [](const Share& a, const Share& b) { return a.sum > b.sum; });
    return shares;
  }

  void AddOfLevel(Tier tier) {
    const std::vector<Share> shares = Shares(tier);
    const auto& domains = wants_.fabric().domains(tier);
    ByDomain<bool> open(domains.EndIndex(), false);
    for (const Share& share : shares) open[share.domain] = true;
    const auto among = [&](NodeIndex n) { return open[domains.of_node[n]]; };
    Add(MostWanted(wants_, among, placement_.size()));
    for (std::size_t i = 0; i < std::min(kGivenUp, shares.size()); ++i) {
      const Share& given_up = shares[i];
      std::vector<Other> others = Others(tier, open, given_up.workers);
      open[given_up.domain] = false;
      for (Other& other : others) {
        open[other.domain] = true;
        Add(MostWanted(wants_, among, placement_.size()));
        open[other.domain] = false;
        if (shares.size() > 1) AddReplaced(domains.of_node, given_up, std::move(other.choice));
      }
      open[given_up.domain] = true;
    }
  }

  // The domains that are not used, with their most wanted nodes for so many workers; the best few.
  std::vector<Other> Others(Tier tier, const ByDomain<bool>& used, std::uint64_t workers) const {
    const auto& domains = wants_.fabric().domains(tier);
    ByDomain<std::uint64_t> left(domains.EndIndex(), workers);
    ByDomain<NodeChoice> choices(domains.EndIndex());
    for (const NodeIndex n : wants_.order()) {
      const DomainIndex domain = domains.of_node[n];
      if (used[domain] || left[domain] == 0) continue;
      const std::uint64_t taken = std::min<std::uint64_t>(left[domain], wants_.slots(n));
      left[domain] -= taken;
      choices[domain].sum += static_cast<std::int64_t>(taken) * wants_.unwanted(n);
      choices[domain].nodes.push_back(n);
    }
    std::vector<Other> others;
    for (const DomainIndex d : choices.Indices()) {
      if (!used[d] && left[d] == 0) others.push_back({d, std::move(choices[d])});
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Other& a, const Other& b) { return a.choice.sum < b.choice.sum; });
    if (others.size() > kReplacing) others.resize(kReplacing);
    return others;
  }

  void AddReplaced(const fabric::ByNode<DomainIndex>& of_node, const Share& given_up,
                   NodeChoice choice) {
    for (const NodeIndex n : used_) {
      if (of_node[n] != given_up.domain) choice.nodes.push_back(n);
    }
    std::sort(choice.nodes.begin(), choice.nodes.end());
    choice.sum += sum_ - given_up.sum;
    Add(std::move(choice));
  }

  void AddWithoutOneNode() {
    std::vector<NodeIndex> worst = used_;
    std::stable_sort(worst.begin(), worst.end(), [&](NodeIndex a, NodeIndex b) {
      return wants_.unwanted(a) > wants_.unwanted(b);
    });
    if (worst.size() > kNodesGivenUp) worst.resize(kNodesGivenUp);
    for (const NodeIndex given_up : worst) {
      const auto among = [&](NodeIndex n) {
        if (n == given_up) return false;
        return wants_.unwanted(n) < wants_.unwanted(given_up) ||
               std::binary_search(used_.begin(), used_.end(), n);
      };
      NodeChoice choice = MostWanted(wants_, among, placement_.size());
      if (choice.nodes.empty()) continue;
      choice.nodes.clear();
      std::copy_if(wants_.order().begin(), wants_.order().end(), std::back_inserter(choice.nodes),
                   among);
      std::sort(choice.nodes.begin(), choice.nodes.end());
      Add(std::move(choice));
    }
  }

  const Wants& wants_;
  objective::Nodes placement_;
  std::vector<NodeIndex> used_;  // ascending
  std::int64_t sum_ = 0;
  std::vector<NodeChoice> sets_;
};

}  // namespace

Wants::Wants(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& unwanted,
             Slots slots)
    : fabric_(fabric), unwanted_(unwanted), slots_(slots) {
  WEFT_CHECK(unwanted.size() == slots.size());
  for (const NodeIndex n : unwanted.Indices()) {
    if (slots[n] > 0) order_.push_back(n);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](NodeIndex a, NodeIndex b) { return unwanted[a] < unwanted[b]; });
}

NodeChoice MostWanted(const Wants& wants, const IsAmong& among, std::uint64_t workers) {
  NodeChoice choice;
  std::uint64_t left = workers;
  for (const NodeIndex n : wants.order()) {
    if (left == 0) break;
    if (!among(n)) continue;
    const std::uint64_t taken = std::min<std::uint64_t>(left, wants.slots(n));
    left -= taken;
    choice.sum += static_cast<std::int64_t>(taken) * wants.unwanted(n);
    choice.nodes.push_back(n);
  }
  if (left > 0) return {};
  std::sort(choice.nodes.begin(), choice.nodes.end());
  return choice;
}

std::vector<NodeChoice> BetterSets(const Wants& wants, objective::Nodes placement) {
  return Sets(wants, placement).Run();
}

}  // namespace weft::placement
