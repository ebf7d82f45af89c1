#include "operator/placement/move_to_wanted.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"

namespace weft::placement {

using fabric::ByNode;
using fabric::DomainIndex;
using fabric::NodeIndex;
using objective::Candidate;
using objective::Instance;

namespace {

// Terms of the cost that all evaluations together may look at, about ten nanoseconds each.
constexpr std::size_t kTerms = 4'000'000;
constexpr std::size_t kFewestEvaluations = 16, kMostEvaluations = 8'192;
constexpr int kMostPasses = 8;

class Mover {
 public:
  Mover(const Instance& instance, const ByNode<std::uint32_t>& unwanted, const Candidate& start,
        Int128 most_cost)
      : instance_(instance),
        unwanted_(unwanted),
        preferences_(start.preferences),
        most_cost_(most_cost),
        nodes_(start.nodes),
        evaluations_left_(Evaluations(instance)),
        on_(unwanted.size()) {
    WEFT_CHECK(nodes_.size() == instance.workers());
    for (const WorkerIndex w : nodes_.Indices()) on_[nodes_[w]].push_back(w);
    GroupPlaces();
  }

  ByWorker<NodeIndex> Run() {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const bool alike = MoveAmongLike();
      const bool far = MoveFar();
      if (!alike && !far) break;
    }
    return std::move(nodes_);
  }

 private:
  // Nodes of one kind cost the same: they share the narrowest domain and all networks beside it.
  using Kind = std::pair<DomainIndex, std::uint64_t>;
  using Places = std::vector<NodeIndex>;  // the most wanted first

  // Workers that go from one node to another, and workers that come back.
  struct Move {
    NodeIndex from{0}, to{0};
    std::vector<WorkerIndex> go, come;
    std::int64_t gain = 0;
  };

  static std::size_t Evaluations(const Instance& instance) {
    std::size_t terms = instance.workers() + instance.graph().edges().size();
    for (const traffic::Clique& clique : instance.graph().cliques()) {
      terms += clique.members.size();
    }
    return std::clamp(kTerms / (terms + 1), kFewestEvaluations, kMostEvaluations);
  }

  Kind KindOf(NodeIndex n) const {
    const auto& narrow = instance_.fabric().domains(instance_.node_tier() - 1);
    return {narrow.of_node[n], instance_.pair_cost().stand(n)};
  }

  // Equally wanted nodes in the order of the levels of the objective that follow.
  void GroupPlaces() {
    for (const NodeIndex n : instance_.slots().Indices()) {
      if (instance_.slots()[n] > 0) places_[KindOf(n)].push_back(n);
    }
    const auto rank = [&](NodeIndex n) {
      return std::tuple(unwanted_[n], !instance_.was_used(n),
                        instance_.wholly_free(instance_.node_tier(), AsDomain(n)),
                        instance_.fabric().name_rank(n));
    };
    for (auto& [kind, places] : places_) {
      std::sort(places.begin(), places.end(),
                [&](NodeIndex a, NodeIndex b) { return rank(a) < rank(b); });
    }
  }

  std::uint32_t load(NodeIndex n) const { return static_cast<std::uint32_t>(on_[n].size()); }
  std::uint32_t free(NodeIndex n) const {
    const std::uint32_t slots = instance_.slots()[n];
    return slots - std::min(slots, load(n));
  }

  std::vector<NodeIndex> UsedWorstFirst() const {
    std::vector<NodeIndex> used(nodes_.begin(), nodes_.end());
    std::sort(used.begin(), used.end(), [&](NodeIndex a, NodeIndex b) {
      return unwanted_[a] != unwanted_[b] ? unwanted_[a] > unwanted_[b] : a < b;
    });
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }

  // Whether all workers of `a` and `b` may change places, and more are then on `b`.
  bool MayExchange(NodeIndex a, NodeIndex b) const {
    return load(a) > load(b) && load(a) <= instance_.slots()[b] && load(b) <= instance_.slots()[a];
  }

  bool MoveAmongLike() {
    bool moved = false;
    for (const NodeIndex a : UsedWorstFirst()) {
      const auto places = places_.find(KindOf(a));
      if (places == places_.end()) continue;
      for (const NodeIndex b : places->second) {
        if (unwanted_[b] >= unwanted_[a]) break;
        if (!MayExchange(a, b)) continue;
        Make({a, b, on_[a], on_[b], 0});
        moved = true;
        break;
      }
    }
    return moved;
  }

  bool MoveFar() {
    bool moved = false;
    for (const NodeIndex a : UsedWorstFirst()) {
      if (load(a) == 0) continue;
      for (const Move& move : MovesFrom(a)) {
        if (evaluations_left_ == 0) return moved;
        --evaluations_left_;
        if (!IsAllowed(move)) continue;
        Make(move);
        moved = true;
        break;
      }
    }
    return moved;
  }

  // To the most wanted node of each kind that takes the workers; the largest gain first.
  std::vector<Move> MovesFrom(NodeIndex a) const {
    std::vector<Move> moves;
    for (const auto& [kind, places] : places_) {
      bool exchanged = false, joined = false, one = false;
      for (const NodeIndex b : places) {
        if (unwanted_[b] >= unwanted_[a] || (exchanged && joined && one)) break;
        const std::int64_t gain = std::int64_t{unwanted_[a]} - unwanted_[b];
        if (!exchanged && MayExchange(a, b)) {
          moves.push_back({a, b, on_[a], on_[b], gain * (load(a) - load(b))});
          exchanged = true;
        }
        if (!joined && load(b) > 0 && free(b) >= load(a)) {
          moves.push_back({a, b, on_[a], {}, gain * load(a)});
          joined = true;
        }
        if (!one && load(a) > 1 && free(b) > 0) {
          for (const WorkerIndex w : on_[a]) moves.push_back({a, b, {w}, {}, gain});
          one = true;
        }
      }
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& x, const Move& y) { return x.gain > y.gain; });
    return moves;
  }

  bool IsAllowed(const Move& move) const {
    ByWorker<NodeIndex> nodes = nodes_;
    for (const WorkerIndex w : move.go) nodes[w] = move.to;
    for (const WorkerIndex w : move.come) nodes[w] = move.from;
    return objective::MeetsTopology(instance_, nodes) &&
           objective::Prefer(instance_, nodes) == preferences_ &&
           objective::Cost(instance_.pair_cost(), instance_.graph(), nodes) <= most_cost_;
  }

  void Make(const Move& move) {
    for (const WorkerIndex w : move.go) nodes_[w] = move.to;
    for (const WorkerIndex w : move.come) nodes_[w] = move.from;
    std::vector<WorkerIndex> both = on_[move.from];
    both.insert(both.end(), on_[move.to].begin(), on_[move.to].end());
    std::sort(both.begin(), both.end());
    on_[move.from].clear();
    on_[move.to].clear();
    for (const WorkerIndex w : both) on_[nodes_[w]].push_back(w);
    WEFT_CHECK(load(move.from) <= instance_.slots()[move.from]);
    WEFT_CHECK(load(move.to) <= instance_.slots()[move.to]);
  }

  const Instance& instance_;
  const ByNode<std::uint32_t>& unwanted_;
  const objective::Preferences preferences_;
  const Int128 most_cost_;
  ByWorker<NodeIndex> nodes_;
  std::size_t evaluations_left_;
  ByNode<std::vector<WorkerIndex>> on_;
  std::map<Kind, Places> places_;
};

}  // namespace

std::int64_t SumUnwanted(const ByNode<std::uint32_t>& unwanted, objective::Nodes nodes) {
  std::int64_t sum = 0;
  for (const NodeIndex n : nodes) sum += unwanted[n];
  return sum;
}

ByWorker<NodeIndex> MoveToWanted(const Instance& instance, const ByNode<std::uint32_t>& unwanted,
                                 const Candidate& start, Int128 most_cost) {
  ByWorker<NodeIndex> nodes = Mover(instance, unwanted, start, most_cost).Run();
  WEFT_CHECK(SumUnwanted(unwanted, nodes) <= SumUnwanted(unwanted, start.nodes));
  return nodes;
}

}  // namespace weft::placement
