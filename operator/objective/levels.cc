#include "operator/objective/levels.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/phrases.h"
#include "operator/objective/instance.h"
#include "operator/objective/node_set.h"
#include "operator/objective/ring_rate.h"
#include "operator/objective/wide_bytes.h"

namespace weft::objective {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// A share in parts of a million: "12.3 %".
std::string ShareText(std::uint32_t share) {
  constexpr std::uint32_t kPerMille = 1'000;
  const std::uint32_t tenths = (share + kPerMille / 2) / kPerMille;
  if (tenths == 0) return "under 0.1 %";
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) +
         " %";
}

const std::string& LevelName(const Instance& instance, Tier tier) {
  return instance.fabric().tiers()[tier].name;
}

// The nodes of a placement, and the domains that it uses at each tier except outside.
class Use {
 public:
  Use(const Instance& instance, Nodes nodes) : nodes_(nodes), domains_(instance.node_tier() + 1) {
    NodeSet used(instance.slots().size());
    for (NodeIndex n : nodes) {
      if (n != kUnplaced) used.Insert(n);
    }
    for (Tier t{1}; t < domains_.EndIndex(); ++t) {
      const fabric::ByNode<DomainIndex>& of_node = instance.fabric().domains(t).of_node;
      used.ForEach([&](NodeIndex n) {
        if (domains_[t].empty() || domains_[t].back() != of_node[n]) {
          domains_[t].push_back(of_node[n]);
        }
      });
    }
  }
  std::span<const DomainIndex> domains(Tier tier) const { return domains_[tier]; }
  Nodes nodes() const { return nodes_; }

 private:
  Nodes nodes_;
  fabric::ByTier<std::vector<DomainIndex>> domains_;
};

std::uint32_t LevelsWider(const Instance& instance, Nodes nodes) {
  const auto& preferred = instance.request().preferred;
  if (!preferred) return 0;
  const Tier hull = instance.HullOfAll(nodes);
  return hull < *preferred ? *preferred - hull : 0;
}

std::string SayLevelsWider(const Instance& instance, std::uint32_t wider) {
  const auto& preferred = instance.request().preferred;
  if (!preferred) return "";
  const std::string& level = LevelName(instance, *preferred);
  if (wider == 0) return "topology.preferred holds: all workers are in one " + level + ".";
  return "The placement is " + CountText(wider, "level") + " wider than topology.preferred, " +
         level + ".";
}

std::string MoreLevelsWider(std::uint32_t more) {
  return "is " + CountText(more, "level") + " wider than the chosen one (topology.preferred)";
}

std::uint32_t GroupsMissed(const Instance& instance, Nodes nodes) {
  std::uint32_t missed = 0;
  for (const Instance::PreferredSet& set : instance.preferred_sets()) {
    missed += instance.HullOf(set.workers, nodes) < set.tier ? 1 : 0;
  }
  return missed;
}

std::string SayGroupsMissed(const Instance& /*instance*/, std::uint32_t missed) {
  if (missed == 0) return "";
  return (missed == 1 ? "1 group of workers does"
                      : std::to_string(missed) + " groups of workers do") +
         " not share the level that topology.groups prefers.";
}

std::string MoreGroupsMissed(std::uint32_t more) {
  return CountText(more, "more group") + " would miss the preferred level";
}

struct LevelBeforeCost {
  std::uint32_t (*value)(const Instance&, Nodes);
  std::string (*say)(const Instance&, std::uint32_t value);
  std::string (*more)(std::uint32_t more);
};
constexpr std::array<LevelBeforeCost, kLevelsBeforeCost> kBeforeCost = {{
    {LevelsWider, SayLevelsWider, MoreLevelsWider},
    {GroupsMissed, SayGroupsMissed, MoreGroupsMissed},
}};

// The nodes of the last attempt have images, caches and local checkpoints; the node of a worker has
// this worker's part of the checkpoint.
std::vector<std::uint32_t> WorkersMoved(const Instance& instance, const Use& use) {
  const ByWorker<NodeIndex>& previous = instance.request().previous_nodes;
  if (previous.empty()) return {};
  std::vector<std::uint32_t> moved = {0, 0};
  for (const WorkerIndex w : use.nodes().Indices()) {
    const NodeIndex node = use.nodes()[w];
    if (node == kUnplaced) continue;
    moved[0] += instance.was_used(node) ? 0 : 1;
    moved[1] += w < previous.EndIndex() && previous[w] == node ? 0 : 1;
  }
  return moved;
}

std::string SayWorkersMoved(const Instance& instance, std::span<const std::uint32_t> moved) {
  if (moved.empty()) return "";
  if (moved[0] == 0) return "All workers are on nodes of the last attempt.";
  return std::to_string(moved[0]) + " of " + CountText(instance.workers(), "worker") + " " +
         (moved[0] == 1 ? "is" : "are") + " on nodes that the last attempt did not use.";
}

std::string MoreWorkersMoved(const Instance& /*instance*/, std::size_t which, std::uint32_t more) {
  return "costs no more, but puts " + CountText(more, "more worker") +
         (which == 0 ? " on nodes that the last attempt did not use"
                     : " on another node than in the last attempt");
}

std::vector<std::uint32_t> RingSlowed(const Instance& instance, const Use& use) {
  const auto percent = RingPercent(instance, use.nodes());
  return percent ? std::vector<std::uint32_t>{*percent} : std::vector<std::uint32_t>{};
}

std::string SayRingSlowed(const Instance& instance, std::span<const std::uint32_t> slowed) {
  if (slowed.empty() || slowed[0] == 0) return "";
  const std::string& domain = LevelName(instance, *instance.fabric().nested_scale_up());
  if (slowed[0] == 100) return "Its ring is as fast between " + domain + " domains as inside one.";
  return "Its ring takes " + std::to_string(slowed[0]) +
         " % of the time that it would take in one " + domain +
         " domain: its smallest part has too few GPUs to send faster.";
}

std::string MoreRingSlowed(const Instance& instance, std::size_t /*which*/, std::uint32_t more) {
  return "costs no more, but has a smaller part of the ring in one " +
         LevelName(instance, *instance.fabric().nested_scale_up()) +
         " domain, which slows the ring by " + std::to_string(more) +
         " % of its time inside one domain";
}

std::vector<std::uint32_t> WideShares(const Instance& instance, const Use& use) {
  return WideBytes(instance, use.nodes());
}

std::string SayWideBytes(const Instance& instance, std::span<const std::uint32_t> shares) {
  std::string text;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + ShareText(shares[i]) + " leave their " +
            LevelName(instance, instance.pair_cost().free_levels()[i]);
  }
  return text.empty() ? "" : "Of the bytes between its workers " + text + ", at no extra cost.";
}

std::string MoreWideBytes(const Instance& instance, std::size_t which, std::uint32_t more) {
  return "costs no more, but sends " + ShareText(more) +
         " more of the bytes between its workers out of their " +
         LevelName(instance, instance.pair_cost().free_levels()[which]);
}

// A lower bound for completions, because the value grows with every used domain.
std::vector<std::uint32_t> FreeDomainsBroken(const Instance& instance, const Use& use) {
  std::vector<std::uint32_t> broken;
  for (Tier t{1}; t <= instance.node_tier(); ++t) {
    const auto domains = use.domains(t);
    broken.push_back(static_cast<std::uint32_t>(
        std::count_if(domains.begin(), domains.end(),
                      [&](DomainIndex d) { return instance.wholly_free(t, d); })));
  }
  return broken;
}

std::string SayFreeDomainsBroken(const Instance& instance, std::span<const std::uint32_t> broken) {
  std::string text;
  for (std::size_t i = 0; i < broken.size(); ++i) {
    if (broken[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(broken[i]) + " " +
            LevelName(instance, Tier::Of(i + 1));
  }
  return text.empty() ? "No wholly free domain is broken up."
                      : "Wholly free domains that it uses: " + text + ".";
}

std::string MoreFreeDomainsBroken(const Instance& instance, std::size_t tier, std::uint32_t more) {
  return "costs no more, but breaks up " + CountText(more, "more wholly free domain") +
         " of level " + LevelName(instance, Tier::Of(tier + 1));
}

// Each worker without a node can take at most one of these slots.
std::vector<std::uint32_t> SlotsLeft(const Instance& instance, const Use& use) {
  std::vector<std::uint32_t> left;
  for (Tier t{1}; t <= instance.node_tier(); ++t) {
    std::uint64_t slots = 0;
    for (DomainIndex d : use.domains(t)) slots += instance.SlotsIn(t, d);
    slots -= std::min<std::uint64_t>(slots, instance.workers());
    left.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, ~0U)));
  }
  return left;
}

std::string SaySlotsLeft(const Instance& /*instance*/, std::span<const std::uint32_t> /*left*/) {
  return "";
}

std::string MoreSlotsLeft(const Instance& instance, std::size_t tier, std::uint32_t more) {
  return "costs no more, but uses emptier domains of level " +
         LevelName(instance, Tier::Of(tier + 1)) + ": they keep room for " +
         CountText(more, "more worker");
}

struct LevelAfterCost {
  std::vector<std::uint32_t> (*values)(const Instance&, const Use&);
  std::string (*say)(const Instance&, std::span<const std::uint32_t> values);
  // The text about a placement whose value `which` is worse by `more`.
  std::string (*more)(const Instance&, std::size_t which, std::uint32_t more);
};
constexpr std::array<LevelAfterCost, kLevelsAfterCost> kAfterCost = {{
    {WorkersMoved, SayWorkersMoved, MoreWorkersMoved},
    {RingSlowed, SayRingSlowed, MoreRingSlowed},
    {WideShares, SayWideBytes, MoreWideBytes},
    {FreeDomainsBroken, SayFreeDomainsBroken, MoreFreeDomainsBroken},
    {SlotsLeft, SaySlotsLeft, MoreSlotsLeft},
}};

std::string MoreCost(Int128 other, Int128 chosen) {
  const Int128 more = other - chosen;
  if (chosen == 0) return "costs something where the chosen one costs nothing";
  return "costs " + std::to_string(PercentUp(more, chosen)) + " % more (" + LinkTimeText(more) +
         " of link time)";
}

}  // namespace

Candidate Evaluate(const Instance& instance, ByWorker<NodeIndex> nodes) {
  WEFT_CHECK(nodes.size() == instance.workers());
  Candidate candidate;
  candidate.preferences = Prefer(instance, nodes);
  candidate.cost = Cost(instance.pair_cost(), instance.graph(), nodes);
  candidate.nodes = std::move(nodes);
  return candidate;
}

Preferences Prefer(const Instance& instance, Nodes nodes) {
  Preferences preferences{};
  for (std::size_t l = 0; l < kLevelsBeforeCost; ++l) {
    preferences[l] = kBeforeCost[l].value(instance, nodes);
  }
  return preferences;
}

TieBreakers BreakTies(const Instance& instance, Nodes nodes) {
  const Use use(instance, nodes);
  TieBreakers values;
  for (std::size_t l = 0; l < kLevelsAfterCost; ++l) {
    values[l] = kAfterCost[l].values(instance, use);
  }
  return values;
}

Tier HomeTier(const Request& request, const Preferences& reached) {
  const Tier required = request.required.value_or(fabric::kOutside);
  if (!request.preferred) return required;
  WEFT_CHECK(reached[kLevelsWider] <= request.preferred->Raw());
  return std::max(required, *request.preferred - reached[kLevelsWider]);
}

std::strong_ordering CompareTies(const fabric::Fabric& fabric, const Tie& a, const Tie& b) {
  WEFT_DCHECK(a.nodes.size() == b.nodes.size());
  if (*a.values < *b.values) return std::strong_ordering::less;
  if (*b.values < *a.values) return std::strong_ordering::greater;
  for (const WorkerIndex w : a.nodes.Indices()) {
    if (a.nodes[w] == kUnplaced || b.nodes[w] == kUnplaced) break;
    if (a.nodes[w] != b.nodes[w])
      return fabric.name_rank(a.nodes[w]) <=> fabric.name_rank(b.nodes[w]);
  }
  return std::strong_ordering::equal;
}

Int128 CostLimit(Int128 least, int tolerance_percent) {
  return least + least / 100 * tolerance_percent + least % 100 * tolerance_percent / 100;
}

std::size_t Best(const Instance& instance, std::span<const Candidate> candidates,
                 int tolerance_percent) {
  WEFT_CHECK(!candidates.empty());
  Objective least = candidates.front().objective();
  for (const Candidate& candidate : candidates) least = std::min(least, candidate.objective());
  const Int128 limit = CostLimit(least.cost, tolerance_percent);
  std::size_t best = candidates.size();
  TieBreakers best_ties;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (candidate.preferences != least.preferences || candidate.cost > limit) continue;
    TieBreakers ties = BreakTies(instance, candidate.nodes);
    if (best < candidates.size() && CompareTies(instance.fabric(), {&ties, candidate.nodes},
                                                {&best_ties, candidates[best].nodes}) >= 0) {
      continue;
    }
    best = i;
    best_ties = std::move(ties);
  }
  WEFT_CHECK(best < candidates.size());  // the least is within its own limit
  return best;
}

void InsertInOrder(Candidate candidate, std::vector<Candidate>& sorted) {
  const auto at =
      std::upper_bound(sorted.begin(), sorted.end(), candidate,
                       [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
  WEFT_DCHECK(std::is_sorted(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.objective() < b.objective();
  }));
  sorted.insert(at, std::move(candidate));
}

std::vector<std::string> Describe(const Instance& instance, const Candidate& chosen) {
  std::vector<std::string> sentences;
  for (std::size_t l = 0; l < kLevelsBeforeCost; ++l) {
    sentences.push_back(kBeforeCost[l].say(instance, chosen.preferences[l]));
  }
  const TieBreakers ties = BreakTies(instance, chosen.nodes);
  for (std::size_t l = 0; l < kLevelsAfterCost; ++l) {
    sentences.push_back(kAfterCost[l].say(instance, ties[l]));
  }
  std::erase(sentences, "");
  return sentences;
}

std::string WhyWorse(const Instance& instance, const Candidate& other, const Candidate& chosen) {
  for (std::size_t l = 0; l < kLevelsBeforeCost; ++l) {
    const std::uint32_t theirs = other.preferences[l], ours = chosen.preferences[l];
    if (theirs > ours) return kBeforeCost[l].more(theirs - ours);
  }
  if (other.cost > chosen.cost) return MoreCost(other.cost, chosen.cost);
  const TieBreakers theirs = BreakTies(instance, other.nodes);
  const TieBreakers ours = BreakTies(instance, chosen.nodes);
  for (std::size_t l = 0; l < kLevelsAfterCost; ++l) {
    for (std::size_t i = 0; i < ours[l].size(); ++i) {
      if (theirs[l][i] <= ours[l][i]) continue;
      return kAfterCost[l].more(instance, i, theirs[l][i] - ours[l][i]);
    }
  }
  return "is equal in every level, and its node names sort later";
}

}  // namespace weft::objective
