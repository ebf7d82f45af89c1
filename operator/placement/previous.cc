#include "operator/placement/previous.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/search/refine.h"
#include "operator/search/search.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::Candidate;
using objective::Instance;
using objective::kUnplaced;

namespace {

constexpr std::size_t kAligned = 8;       // best earlier candidates whose workers move back
constexpr std::size_t kWholeDomains = 3;  // domains that take all missing workers, tried one by one
constexpr std::size_t kSolved = 2;        // the best of these sets of nodes are solved again

std::optional<NodeIndex> PreviousOf(const Instance& instance, WorkerIndex worker) {
  const ByWorker<NodeIndex>& previous = instance.request().previous_nodes;
  if (worker >= previous.EndIndex() || previous[worker] >= instance.slots().EndIndex())
    return std::nullopt;
  return previous[worker];
}

// Moves workers back to their old nodes: all workers of a node change places with those of another
// node, or move to a free one, if both nodes cost the same.
class Aligner {
 public:
  Aligner(const Instance& instance, ByWorker<NodeIndex> nodes)
      : instance_(instance), nodes_(std::move(nodes)) {
    WEFT_CHECK(nodes_.size() == instance.workers());
    for (const WorkerIndex w : nodes_.Indices()) on_[nodes_[w]].push_back(w);
  }

  ByWorker<NodeIndex> Run() {
    for (const WorkerIndex w : nodes_.Indices()) {
      const auto home = PreviousOf(instance_, w);
      if (home && !IsHome(*home) && !IsHome(nodes_[w])) Exchange(nodes_[w], *home);
    }
    // Then moves workers to free nodes of the last attempt, whichever worker was there.
    std::vector<NodeIndex> used;
    for (const auto& [node, workers] : on_) used.push_back(node);
    for (const NodeIndex node : used) {
      if (instance_.was_used(node)) continue;
      for (const NodeIndex old : OldOnesLike(node)) {
        if (!on_.contains(old) && Exchange(node, old)) break;
      }
    }
    return std::move(nodes_);
  }

 private:
  // Whether one of the node's workers was there in the last attempt.
  bool IsHome(NodeIndex node) const {
    const auto found = on_.find(node);
    return found != on_.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](WorkerIndex w) { return PreviousOf(instance_, w) == node; });
  }

  bool CostAlike(NodeIndex a, NodeIndex b) const {
    const auto& of_node = instance_.fabric().domains(instance_.node_tier() - 1).of_node;
    const objective::PairCost& pair_cost = instance_.pair_cost();
    return of_node[a] == of_node[b] && pair_cost.stand(a) == pair_cost.stand(b);
  }

  std::span<const NodeIndex> OldOnesLike(NodeIndex node) const {
    const auto& narrow = instance_.fabric().domains(instance_.node_tier() - 1);
    const DomainIndex domain = narrow.of_node[node];
    const auto previous = instance_.previous();
    const auto from = std::lower_bound(previous.begin(), previous.end(), narrow.begin[domain]);
    WEFT_DCHECK(std::is_sorted(previous.begin(), previous.end()));
    const auto to = std::lower_bound(from, previous.end(), narrow.begin[domain + 1]);
    return {from, to};
  }

  bool Exchange(NodeIndex a, NodeIndex b) {
    const auto load = [&](NodeIndex n) {
      const auto found = on_.find(n);
      return found == on_.end() ? std::size_t{0} : found->second.size();
    };
    if (a == b || !CostAlike(a, b)) return false;
    if (load(a) > instance_.slots()[b] || load(b) > instance_.slots()[a]) return false;
    std::swap(on_[a], on_[b]);
    for (const NodeIndex node : {a, b}) {
      WEFT_CHECK(on_[node].size() <= instance_.slots()[node]);
      for (const WorkerIndex w : on_[node]) nodes_[w] = node;
      if (on_[node].empty()) on_.erase(node);
    }
    return true;
  }

  const Instance& instance_;
  ByWorker<NodeIndex> nodes_;
  std::map<NodeIndex, std::vector<WorkerIndex>> on_;
};

// Workers that stay on their old nodes, and ways to place the missing ones.
class Replacement {
 public:
  explicit Replacement(const Instance& instance)
      : instance_(instance),
        narrow_(instance.fabric().domains(instance.node_tier() - 1)),
        free_(instance.slots().begin(), instance.slots().end()),
        stay_(instance.workers(), kUnplaced) {
    for (const WorkerIndex w : Range<WorkerIndex>(instance.workers())) {
      const auto old = PreviousOf(instance, w);
      if (old && free_[*old] > 0) {
        stay_[w] = *old;
        --free_[*old];
      } else {
        missing_.push_back(w);
      }
    }
  }

  bool any_stays() const { return missing_.size() < stay_.size(); }

  // The placements that keep the staying workers.
  std::vector<ByWorker<NodeIndex>> Ways() {
    if (missing_.empty()) return {stay_};
    std::vector<ByWorker<NodeIndex>> ways;
    const std::vector<DomainIndex> domains = CheapestFirst();
    std::vector<NodeIndex> anywhere, old_ones;
    for (const DomainIndex domain : domains) {
      const std::vector<NodeIndex> open = OpenIn(domain);
      if (open.size() >= missing_.size() && ways.size() < kWholeDomains) ways.push_back(With(open));
      const std::size_t more = missing_.size() - std::min(missing_.size(), anywhere.size());
      anywhere.insert(anywhere.end(), open.begin(),
                      open.begin() + static_cast<std::ptrdiff_t>(std::min(more, open.size())));
      for (NodeIndex n : open) {
        if (instance_.was_used(n)) old_ones.push_back(n);
      }
    }
    if (anywhere.size() < missing_.size()) return {};
    ways.push_back(With(anywhere));
    for (const objective::PairCost::Plane& plane : instance_.pair_cost().planes()) {
      ways.push_back(With(NearestBy(plane)));
    }
    if (!old_ones.empty()) {
      old_ones.insert(old_ones.end(), anywhere.begin(), anywhere.end());
      ways.push_back(With(old_ones));
    }
    return ways;
  }

 private:
  // Bytes between workers that stay and those that are missing, by domain of the narrowest tier.
  fabric::ByDomain<Int128> BytesByDomain() const {
    fabric::ByDomain<Int128> bytes(narrow_.EndIndex(), 0);
    const auto add = [&](WorkerIndex staying, Int128 amount) {
      bytes[narrow_.of_node[stay_[staying]]] += amount;
    };
    for (const WorkerIndex w : missing_) {
      for (const traffic::Neighbour& neighbour : instance_.graph().neighbours(w)) {
        if (stay_[neighbour.worker] != kUnplaced) add(neighbour.worker, neighbour.bytes);
      }
    }
    for (const traffic::Clique& clique : instance_.graph().cliques()) {
      Int128 missing = 0;
      for (const traffic::Seat& seat : clique.members) {
        if (stay_[seat.worker] == kUnplaced) missing += seat.ranks;
      }
      for (const traffic::Seat& seat : clique.members) {
        if (stay_[seat.worker] == kUnplaced) continue;
        add(seat.worker, missing * seat.ranks * clique.bytes_per_rank_pair);
      }
    }
    return bytes;
  }

  // Domains with free slots, ordered by the cost of the traffic between the missing workers and
  // those that stay, cheapest first.
  std::vector<DomainIndex> CheapestFirst() const {
    const auto weights = instance_.pair_cost().tier_weights();
    const fabric::ByDomain<Int128> bytes = BytesByDomain();
    fabric::ByDomain<Int128> saved(narrow_.EndIndex(), 0);
    for (Tier t{1}; t < instance_.node_tier(); ++t) {
      const auto& domains = instance_.fabric().domains(t);
      fabric::ByDomain<Int128> inside(domains.EndIndex(), 0);
      const auto wide = [&](DomainIndex d) { return domains.of_node[narrow_.begin[d]]; };
      for (DomainIndex d{0}; d < narrow_.EndIndex(); ++d) inside[wide(d)] += bytes[d];
      for (DomainIndex d{0}; d < narrow_.EndIndex(); ++d) {
        saved[d] += inside[wide(d)] * (weights[t - 1] - weights[t]);
      }
    }
    std::vector<DomainIndex> order;
    for (DomainIndex d{0}; d < narrow_.EndIndex(); ++d) {
      if (instance_.SlotsIn(instance_.node_tier() - 1, d) > 0) order.push_back(d);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](DomainIndex a, DomainIndex b) { return saved[a] > saved[b]; });
    return order;
  }

  // A node for each free slot. Nodes whose domain of the plane has the most traffic with the
  // missing workers come first.
  std::vector<NodeIndex> NearestBy(const objective::PairCost::Plane& plane) const {
    const fabric::ByNode<DomainIndex>& domain_of = *plane.of_node;
    std::map<DomainIndex, Int128> bytes;
    for (const WorkerIndex w : missing_) {
      for (const traffic::Neighbour& neighbour : instance_.graph().neighbours(w)) {
        if (stay_[neighbour.worker] == kUnplaced) continue;
        bytes[domain_of[stay_[neighbour.worker]]] += neighbour.bytes;
      }
      for (const std::uint32_t c : instance_.graph().cliques_of(w)) {
        const traffic::Clique& clique = instance_.graph().cliques()[c];
        for (const traffic::Seat& seat : clique.members) {
          if (stay_[seat.worker] == kUnplaced) continue;
          bytes[domain_of[stay_[seat.worker]]] += seat.ranks * Int128{clique.bytes_per_rank_pair};
        }
      }
    }
    std::vector<NodeIndex> open;
    for (const NodeIndex n : free_.Indices()) open.insert(open.end(), free_[n], n);
    const auto near = [&](NodeIndex n) {
      const auto found = bytes.find(domain_of[n]);
      return found == bytes.end() ? Int128{0} : found->second;
    };
    std::stable_sort(open.begin(), open.end(),
                     [&](NodeIndex a, NodeIndex b) { return near(a) > near(b); });
    return open;
  }

  // A node for each free slot of the domain: first nodes of the last attempt, then nodes in use by
  // others, then free nodes.
  std::vector<NodeIndex> OpenIn(DomainIndex domain) const {
    std::vector<NodeIndex> open;
    for (NodeIndex n = narrow_.begin[domain]; n < narrow_.begin[domain + 1]; ++n) {
      open.insert(open.end(), free_[n], n);
    }
    const auto rank = [&](NodeIndex n) {
      return std::tuple(!instance_.was_used(n),
                        instance_.wholly_free(instance_.node_tier(), AsDomain(n)), n);
    };
    std::sort(open.begin(), open.end(),
              [&](NodeIndex a, NodeIndex b) { return rank(a) < rank(b); });
    return open;
  }

  // The placement with the missing workers on the first of these slots.
  ByWorker<NodeIndex> With(std::span<const NodeIndex> open) const {
    ByWorker<NodeIndex> nodes = stay_;
    fabric::ByNode<std::uint32_t> left = free_;
    std::size_t next = 0;
    for (const NodeIndex node : open) {
      if (next == missing_.size()) break;
      if (left[node] == 0) continue;
      --left[node];
      nodes[missing_[next++]] = node;
    }
    WEFT_CHECK(next == missing_.size());  // Ways counted the slots
    return nodes;
  }

  const Instance& instance_;
  const fabric::TierDomains& narrow_;
  fabric::ByNode<std::uint32_t> free_;  // slots that staying workers do not use
  ByWorker<NodeIndex> stay_;            // kUnplaced for the missing
  std::vector<WorkerIndex> missing_;
};

// The best placements of the job on these nodes and those of the last attempt.
std::vector<Candidate> SolveAmong(const Instance& instance, const objective::Options& options,
                                  Int128 enough, const Candidate& start) {
  std::vector<NodeIndex> among = start.nodes.Items();
  among.insert(among.end(), instance.previous().begin(), instance.previous().end());
  std::sort(among.begin(), among.end());
  among.erase(std::unique(among.begin(), among.end()), among.end());
  objective::Request request = instance.request();
  request.excluded.clear();
  for (const NodeIndex n : instance.slots().Indices()) {
    if (instance.slots()[n] == 0 || !std::binary_search(among.begin(), among.end(), n)) {
      request.excluded.push_back(n);
    }
  }
  const Instance smaller(instance.claims(), request, instance.graph(), options,
                         instance.query().pools);
  std::vector<Candidate> candidates =
      search::GreedyCandidates(smaller, [](const Candidate&) { return search::Standing::kNear; });
  candidates.push_back(start);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
  search::RefineBest(smaller, options.limits, enough, candidates);
  // Among fewer nodes a domain's power goes to other ones: what takes more than the bound assumes
  // is left out.
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return !objective::MeetsHardRules(instance, candidate.nodes);
  });
  return candidates;
}

}  // namespace

void AddPrevious(const Instance& instance, const objective::Options& options, Int128 enough,
                 std::vector<Candidate>& candidates) {
  if (instance.previous().empty()) return;
  const auto before = [](const auto& a, const auto& b) { return a.objective() < b.objective(); };
  std::vector<Candidate> found;
  const auto align = [&](const std::vector<Candidate>& from) {
    for (std::size_t i = 0; i < std::min(kAligned, from.size()); ++i) {
      found.push_back(objective::Evaluate(instance, Aligner(instance, from[i].nodes).Run()));
    }
  };
  align(candidates);
  Replacement replacement(instance);
  std::vector<Candidate> kept;
  if (replacement.any_stays()) {
    for (ByWorker<NodeIndex>& nodes : replacement.Ways()) {
      if (objective::MeetsHardRules(instance, nodes))
        kept.push_back(objective::Evaluate(instance, std::move(nodes)));
    }
  }
  std::stable_sort(kept.begin(), kept.end(), before);
  for (std::size_t i = 0; i < std::min(kSolved, kept.size()); ++i) {
    align(SolveAmong(instance, options, enough, kept[i]));
  }
  candidates.insert(candidates.end(), kept.begin(), kept.end());
  candidates.insert(candidates.end(), found.begin(), found.end());
  std::stable_sort(candidates.begin(), candidates.end(), before);
}

}  // namespace weft::placement
