#include "operator/rules/worker_rules.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "operator/base/check.h"
#include "operator/rules/pod_domains.h"

namespace weft::rules {

using fabric::NodeIndex;

namespace {

using PerNode = fabric::ByNode<std::uint32_t>;

// States that a search worker by worker looks at: its cost is this times the kinds of nodes.
constexpr std::size_t kStates = 20'000;
constexpr std::size_t kStateNumbers = 2'000'000;  // and these numbers in all, a memory limit
// Workers times kinds of nodes: tenths of a second, with and without what is undone.
constexpr std::uint64_t kMostWork = 1'000'000, kMostGreedyWork = 50'000'000;

std::uint64_t Sum(const PerNode& slots) {
  return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
}

// Nodes of equal domains in all limits and spreads.
struct NodeKind {
  std::vector<std::uint32_t> domains;  // of the limits, then of the spreads
  std::vector<NodeIndex> nodes;        // roomiest first
  std::uint64_t slots = 0;
};

std::vector<NodeKind> KindsOf(const WorkerRules& rules, const PerNode& slots) {
  std::map<std::vector<std::uint32_t>, std::vector<NodeIndex>> by_domains;
  for (const NodeIndex n : slots.Indices()) {
    if (slots[n] == 0) continue;
    std::vector<std::uint32_t> domains;
    for (const auto& rule : rules.limits) domains.push_back(rule.of_node[n]);
    for (const auto& rule : rules.spreads) domains.push_back(rule.of_node[n]);
    by_domains[std::move(domains)].push_back(n);
  }
  std::vector<NodeKind> kinds;
  for (auto& [domains, nodes] : by_domains) {
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeIndex a, NodeIndex b) { return slots[a] > slots[b]; });
    std::uint64_t sum = 0;
    for (const NodeIndex n : nodes) sum += slots[n];
    kinds.push_back({domains, std::move(nodes), sum});
  }
  return kinds;
}

PerNode SlotsOf(const std::vector<NodeKind>& kinds, const PerNode& slots,
                const std::vector<std::uint64_t>& used) {
  PerNode out(slots.size(), 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::uint64_t left = used[k];
    for (const NodeIndex n : kinds[k].nodes) {
      out[n] = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, slots[n]));
      left -= out[n];
    }
    WEFT_CHECK(left == 0);  // a kind has the slots of its nodes
  }
  return out;
}

// Workers through the kinds of nodes, from the domains of one limit to those of another. A node
// without a label, or a rule that is not there, is a domain without a limit.
class Flow {
 public:
  Flow(const WorkerRules& rules, const std::vector<NodeKind>& kinds) : kinds_(kinds) {
    if (!rules.limits.empty()) AddDomains(rules.limits[0], from_);
    if (rules.limits.size() > 1) AddDomains(rules.limits[1], to_);
    for (const NodeKind& kind : kinds) {
      const std::size_t from = Domain(rules, kind, 0, from_), to = Domain(rules, kind, 1, to_);
      from_[from].kinds.push_back(ends_.size());
      to_[to].kinds.push_back(ends_.size());
      ends_.push_back({from, to});
    }
    used_.assign(kinds.size(), 0);
  }

  // The workers of each kind if `workers` find a place.
  std::optional<std::vector<std::uint64_t>> Run(std::uint64_t workers) {
    for (std::uint64_t placed = 0; placed < workers; ++placed) {
      seen_.assign(to_.size(), 0);
      bool found = false;
      for (Side& from : from_) {
        if (from.used >= from.most || !Augment(from)) continue;
        ++from.used;
        found = true;
        break;
      }
      if (!found) return std::nullopt;
    }
    return used_;
  }

 private:
  static constexpr std::uint64_t kAny = ~0ULL;
  struct Side {
    std::uint64_t most = kAny, used = 0;
    std::vector<std::size_t> kinds;
  };
  struct Ends {
    std::size_t from, to;
  };

  static void AddDomains(const WorkerRules::Limit& limit, std::vector<Side>& sides) {
    for (const std::uint64_t most : limit.most) sides.push_back({most, 0, {}});
  }

  // The kind's domain of the limit; a new one if nothing is limited there.
  static std::size_t Domain(const WorkerRules& rules, const NodeKind& kind, std::size_t limit,
                            std::vector<Side>& sides) {
    if (limit < rules.limits.size() && kind.domains[limit] != Domains::kNone) {
      return kind.domains[limit];
    }
    sides.emplace_back();
    return sides.size() - 1;
  }

  // One worker more out of the domain, where others may have to go through other kinds.
  bool Augment(const Side& from) {
    for (const std::size_t k : from.kinds) {
      const std::size_t t = ends_[k].to;
      if (used_[k] >= kinds_[k].slots || seen_[t] != 0) continue;
      seen_[t] = 1;
      Side& to = to_[t];
      bool free = to.used < to.most;
      if (free) ++to.used;
      for (std::size_t o = 0; !free && o < to.kinds.size(); ++o) {
        const std::size_t other = to.kinds[o];
        if (used_[other] == 0 || !Augment(from_[ends_[other].from])) continue;
        --used_[other];
        free = true;
      }
      if (!free) continue;
      ++used_[k];
      return true;
    }
    return false;
  }

  const std::vector<NodeKind>& kinds_;
  std::vector<Side> from_, to_;
  std::vector<Ends> ends_;           // by kind
  std::vector<std::uint64_t> used_;  // by kind
  std::vector<std::uint8_t> seen_;   // by domain of the second limit
};

// Places one worker after the other, in the kind of node whose spreads are emptiest.
class OneByOne {
 public:
  OneByOne(const WorkerRules& rules, const std::vector<NodeKind>& kinds, bool* gave_up)
      : rules_(rules), kinds_(kinds), gave_up_(gave_up), used_(kinds.size(), 0) {
    for (const auto& rule : rules.limits) counts_.emplace_back(rule.most.size(), 0);
    for (const auto& rule : rules.spreads) counts_.emplace_back(rule.pods.size(), 0);
    most_states_ = std::min(kStates, kStateNumbers / std::max<std::size_t>(1, kinds.size()));
  }

  std::optional<std::vector<std::uint64_t>> Run(std::uint64_t workers) {
    most_states_ = std::max<std::size_t>(most_states_, 2 * workers);  // once down is possible
    if (!Place(workers)) return std::nullopt;
    return used_;
  }
  // Undoes nothing.
  std::optional<std::vector<std::uint64_t>> RunGreedily(std::uint64_t workers) {
    for (std::uint64_t w = 0; w < workers; ++w) {
      std::pair<std::uint64_t, std::size_t> least{~0ULL, kinds_.size()};
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (used_[k] >= kinds_[k].slots || !LimitsAllow(k)) continue;
        least = std::min(least, {Height(k), k});
      }
      if (least.second == kinds_.size()) return std::nullopt;
      Count(least.second, 1);
    }
    return SpreadsHold() ? std::optional(used_) : std::nullopt;
  }

 private:
  bool Place(std::uint64_t left) {
    if (left == 0) return SpreadsHold();
    if (seen_.size() >= most_states_) {
      if (gave_up_ != nullptr) *gave_up_ = true;
      return false;
    }
    if (!seen_.insert(used_).second) return false;
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (used_[k] < kinds_[k].slots && LimitsAllow(k)) order.emplace_back(Height(k), k);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [height, k] : order) {
      Count(k, 1);
      if (Place(left - 1)) return true;
      Count(k, ~std::uint64_t{0});
    }
    return false;
  }

  void Count(std::size_t k, std::uint64_t step) {
    used_[k] += step;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      if (kinds_[k].domains[r] != Domains::kNone) counts_[r][kinds_[k].domains[r]] += step;
    }
  }

  bool LimitsAllow(std::size_t k) const {
    for (std::size_t r = 0; r < rules_.limits.size(); ++r) {
      const std::uint32_t d = kinds_[k].domains[r];
      if (d != Domains::kNone && counts_[r][d] >= rules_.limits[r].most[d]) return false;
    }
    return true;
  }

  bool SpreadsHold() const {
    for (std::size_t s = 0; s < rules_.spreads.size(); ++s) {
      if (!HoldsIn(rules_.spreads[s], counts_[rules_.limits.size() + s])) return false;
    }
    return true;
  }

  // The pods in the kind's domains of the spreads.
  std::uint64_t Height(std::size_t k) const {
    std::uint64_t height = 0;
    for (std::size_t s = 0; s < rules_.spreads.size(); ++s) {
      const std::size_t r = rules_.limits.size() + s;
      const std::uint32_t d = kinds_[k].domains[r];
      if (d != Domains::kNone) height += counts_[r][d] + rules_.spreads[s].pods[d];
    }
    return height;
  }

  const WorkerRules& rules_;
  const std::vector<NodeKind>& kinds_;
  bool* const gave_up_;                             // may be null
  std::vector<std::uint64_t> used_;                 // by kind
  std::vector<std::vector<std::uint64_t>> counts_;  // by rule and domain: workers
  std::set<std::vector<std::uint64_t>> seen_;
  std::size_t most_states_ = 0;
};

}  // namespace

bool HoldsTogether(const WorkerRules::Together& rule, const PerNode& used) {
  std::optional<std::uint32_t> domain;
  for (const NodeIndex n : used.Indices()) {
    if (used[n] == 0) continue;
    if (domain && *domain != rule.of_node[n]) return false;
    domain = rule.of_node[n];
  }
  return true;
}

bool HoldsIn(const WorkerRules::Spread& rule, const std::vector<std::uint64_t>& workers) {
  WEFT_CHECK(workers.size() == rule.pods.size());
  std::uint64_t emptiest = rule.from_zero ? 0 : ~0ULL - rule.max_skew;
  for (std::size_t d = 0; d < workers.size(); ++d) {
    if (rule.eligible[d] != 0) emptiest = std::min(emptiest, rule.pods[d] + workers[d]);
  }
  for (std::size_t d = 0; d < workers.size(); ++d) {
    if (workers[d] > 0 && rule.pods[d] + workers[d] > emptiest + rule.max_skew) return false;
  }
  return true;
}

std::vector<std::uint64_t> CountIn(const PerNode& of_node, std::size_t count, const PerNode& used) {
  std::vector<std::uint64_t> workers(count, 0);
  for (const NodeIndex n : used.Indices()) {
    if (used[n] > 0 && of_node[n] != Domains::kNone) workers[of_node[n]] += used[n];
  }
  return workers;
}

bool HoldAll(const WorkerRules& rules, const PerNode& used) {
  for (const auto& rule : rules.together) {
    if (!HoldsTogether(rule, used)) return false;
  }
  for (const auto& rule : rules.limits) {
    const auto workers = CountIn(rule.of_node, rule.most.size(), used);
    for (std::size_t d = 0; d < workers.size(); ++d) {
      if (workers[d] > rule.most[d]) return false;
    }
  }
  return std::all_of(rules.spreads.begin(), rules.spreads.end(), [&](const auto& rule) {
    return HoldsIn(rule, CountIn(rule.of_node, rule.pods.size(), used));
  });
}

std::vector<std::vector<NodeIndex>> SetsTogether(const WorkerRules& rules, const PerNode& slots,
                                                 std::uint64_t workers) {
  std::map<std::vector<std::uint32_t>, std::vector<NodeIndex>> by_domains;
  for (const NodeIndex n : slots.Indices()) {
    if (slots[n] == 0) continue;
    std::vector<std::uint32_t> domains;
    for (const auto& rule : rules.together) domains.push_back(rule.of_node[n]);
    by_domains[std::move(domains)].push_back(n);
  }
  std::vector<std::pair<std::uint64_t, std::vector<NodeIndex>>> roomy;
  for (auto& [domains, nodes] : by_domains) {
    std::uint64_t room = 0;
    for (const NodeIndex n : nodes) room += slots[n];
    if (room >= workers) roomy.emplace_back(room, std::move(nodes));
  }
  std::stable_sort(roomy.begin(), roomy.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<NodeIndex>> sets;
  for (auto& [room, nodes] : roomy) sets.push_back(std::move(nodes));
  return sets;
}

PerNode SlotsIn(const std::vector<NodeIndex>& nodes, const PerNode& slots) {
  PerNode some(slots.size(), 0);
  for (const NodeIndex n : nodes) some[n] = slots[n];
  return some;
}

bool IsQuick(const WorkerRules& rules, const PerNode& slots, std::uint64_t workers) {
  if (rules.limits.size() <= 1 && rules.spreads.empty()) return true;
  return KindsOf(rules, slots).size() <= kMostWork / std::max<std::uint64_t>(1, workers);
}

std::optional<PerNode> FindWorkers(const WorkerRules& rules, const PerNode& slots,
                                   std::uint64_t workers, bool* gave_up) {
  if (Sum(slots) < workers) return std::nullopt;
  const bool quick = IsQuick(rules, slots, workers);
  if (!quick && gave_up != nullptr) *gave_up = true;
  for (const std::vector<NodeIndex>& set : SetsTogether(rules, slots, workers)) {
    const PerNode some = SlotsIn(set, slots);
    if (rules.limits.empty() && rules.spreads.empty()) return some;
    const std::vector<NodeKind> kinds = KindsOf(rules, some);
    if (!quick) {
      if (kinds.size() > kMostGreedyWork / std::max<std::uint64_t>(1, workers)) continue;
      if (const auto used = OneByOne(rules, kinds, gave_up).RunGreedily(workers)) {
        return SlotsOf(kinds, some, *used);
      }
      continue;
    }
    const bool flows = rules.limits.size() <= 2 && rules.spreads.empty();
    const auto used =
        flows ? Flow(rules, kinds).Run(workers) : OneByOne(rules, kinds, gave_up).Run(workers);
    if (used) return SlotsOf(kinds, some, *used);
  }
  return std::nullopt;
}

}  // namespace weft::rules
