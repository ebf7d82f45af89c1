#include "operator/search/exact.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "operator/objective/hard_rules.h"
#include "operator/search/adjacency.h"
#include "operator/search/symmetry.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Neighbour;

namespace {

constexpr std::uint32_t kMostWorkers = 16;
// Limit of nodes that may hold a worker, before interchangeable ones are removed, because finding
// these sorts all nodes.
constexpr std::uint32_t kMostCandidates = 4096;
constexpr std::size_t kMostNodes = 64;

// The state of both searches: the relevant nodes, the node of each worker, and bounds for the other
// workers.
class Board {
 public:
  Board(const Instance& instance, const Symmetry& symmetry, std::vector<NodeIndex> nodes)
      : instance_(instance),
        symmetry_(symmetry),
        adjacency_(instance.graph()),
        nodes_(std::move(nodes)),
        load_(nodes_.size(), 0),
        at_(instance.workers(), kNowhere),
        placed_(instance.workers(), kUnplaced),
        weight_(nodes_.size() * nodes_.size()),
        attach_(instance.workers() * nodes_.size(), 0) {
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        weight_[a * size() + b] = instance.pair_cost().Weight(nodes_[a], nodes_[b]);
      }
    }
    in_domain_.resize(instance.node_tier() + 1);
    for (Tier t = 0; t <= instance.node_tier(); ++t) {
      in_domain_[t].assign(instance.fabric().domains(t).size(), 0);
    }
  }

  static constexpr std::uint32_t kNowhere = ~0U;

  std::size_t size() const { return nodes_.size(); }
  NodeIndex node(std::size_t place) const { return nodes_[place]; }
  bool HasRoom(std::size_t place) const { return load_[place] < instance_.slots()[nodes_[place]]; }
  // The cost of the worker's traffic with the placed workers, if it were at this place.
  Int128 Attach(std::uint32_t worker, std::size_t place) const {
    return attach_[worker * size() + place];
  }
  // The preferences of the partial placement, a lower bound for all its completions.
  Preferences preferences() const { return Prefer(instance_, placed_); }
  Int128 cost() const { return cost_; }
  bool MeetsRules() const { return MeetsTopology(instance_, placed_); }

  void Put(std::uint32_t worker, std::size_t place) {
    cost_ += Attach(worker, place);
    Book(worker, place, 1);
  }
  void Take(std::uint32_t worker) {
    const std::size_t place = at_[worker];
    Book(worker, place, -1);
    cost_ -= Attach(worker, place);
  }

  // The places to try for the next worker; of interchangeable ones only the one with the least
  // name.
  void Choices(std::vector<std::uint32_t>& choices) const;

  // A lower bound of the cost between the workers of `rest` and the placed workers.
  Int128 LeastAttach(std::span<const std::uint32_t> rest) const;

  const std::vector<NodeIndex>& placed() const { return placed_; }
  Candidate candidate() const { return {placed_, preferences(), cost_}; }
  const Instance& instance() const { return instance_; }

 private:
  void Book(std::uint32_t worker, std::size_t place, int sign);
  std::vector<std::uint64_t> Kind(std::size_t place) const;

  const Instance& instance_;
  const Symmetry& symmetry_;
  Adjacency adjacency_;
  std::vector<NodeIndex> nodes_;
  std::vector<std::uint32_t> load_;
  std::vector<std::uint32_t> at_;  // place of each worker
  std::vector<NodeIndex> placed_;  // by worker: its node, or kUnplaced
  std::vector<std::int64_t> weight_;
  std::vector<Int128> attach_;
  std::vector<std::vector<std::uint32_t>> in_domain_;
  Int128 cost_ = 0;
};

void Board::Book(std::uint32_t worker, std::size_t place, int sign) {
  at_[worker] = sign > 0 ? static_cast<std::uint32_t>(place) : kNowhere;
  placed_[worker] = sign > 0 ? nodes_[place] : kUnplaced;
  load_[place] += static_cast<std::uint32_t>(sign);
  for (Tier t = 0; t <= instance_.node_tier(); ++t) {
    const DomainIndex domain = instance_.fabric().domains(t).of_node[nodes_[place]];
    in_domain_[t][domain] += static_cast<std::uint32_t>(sign);
  }
  const std::int64_t* weight = &weight_[place * size()];
  for (const Neighbour& neighbour : adjacency_.of(worker)) {
    Int128* attach = &attach_[neighbour.worker * size()];
    const Int128 bytes = static_cast<Int128>(neighbour.bytes) * sign;
    for (std::size_t p = 0; p < size(); ++p) attach[p] += bytes * weight[p];
  }
}

// Nodes of one kind below the same narrowest used domain are interchangeable.
std::vector<std::uint64_t> Board::Kind(std::size_t place) const {
  const fabric::Fabric& fabric = instance_.fabric();
  const NodeIndex node = nodes_[place];
  Tier touched = instance_.node_tier();
  while (touched > 0 && in_domain_[touched][fabric.domains(touched).of_node[node]] == 0) --touched;
  std::vector<std::uint64_t> kind = {touched, fabric.domains(touched).of_node[node]};
  for (Tier t = touched + 1; t <= instance_.node_tier(); ++t) {
    kind.push_back(symmetry_.signature(t, fabric.domains(t).of_node[node]));
  }
  return kind;
}

void Board::Choices(std::vector<std::uint32_t>& choices) const {
  std::map<std::vector<std::uint64_t>, std::uint32_t> least;
  const fabric::Fabric& fabric = instance_.fabric();
  for (std::uint32_t p = 0; p < size(); ++p) {
    if (!HasRoom(p)) continue;
    auto [entry, is_new] = least.try_emplace(Kind(p), p);
    if (!is_new && fabric.name_rank(nodes_[p]) < fabric.name_rank(nodes_[entry->second])) {
      entry->second = p;
    }
  }
  choices.clear();
  for (const auto& [kind, place] : least) choices.push_back(place);
}

Int128 Board::LeastAttach(std::span<const std::uint32_t> rest) const {
  Int128 sum = 0;
  for (std::uint32_t worker : rest) {
    Int128 least = -1;
    for (std::size_t p = 0; p < size(); ++p) {
      if (!HasRoom(p)) continue;
      const Int128 attach = Attach(worker, p);
      if (least < 0 || attach < least) least = attach;
    }
    sum += std::max<Int128>(least, 0);
  }
  return sum;
}

// First search: least preferences, then least cost.
class LeastCost {
 public:
  LeastCost(Board& board, std::uint32_t& steps) : board_(board), steps_(steps) {}

  void Know(const Candidate& candidate) {
    if (CanWin(candidate.objective())) best_ = candidate;
  }
  // Returns false if the steps ran out.
  bool Run() {
    // Each next worker is the one with most bytes to the earlier ones, so that bad starts are
    // pruned early.
    order_ = ByAttachment(board_.instance());
    return Visit(0);
  }
  const std::optional<Candidate>& best() const { return best_; }

 private:
  static std::vector<std::uint32_t> ByAttachment(const Instance& instance);

  bool CanWin(const Objective& least) const { return !best_ || least < best_->objective(); }
  bool Visit(std::uint32_t depth);

  Board& board_;
  std::uint32_t& steps_;
  std::vector<std::uint32_t> order_;
  std::optional<Candidate> best_;
};

std::vector<std::uint32_t> LeastCost::ByAttachment(const Instance& instance) {
  const Adjacency adjacency(instance.graph());
  std::vector<Int128> bytes(instance.workers(), 0);
  std::vector<bool> done(instance.workers(), false);
  std::vector<std::uint32_t> order;
  while (order.size() < instance.workers()) {
    std::uint32_t next = Board::kNowhere;
    for (std::uint32_t w = 0; w < instance.workers(); ++w) {
      if (!done[w] && (next == Board::kNowhere || bytes[w] > bytes[next])) next = w;
    }
    done[next] = true;
    order.push_back(next);
    for (const Neighbour& neighbour : adjacency.of(next))
      bytes[neighbour.worker] += neighbour.bytes;
  }
  return order;
}

bool LeastCost::Visit(std::uint32_t depth) {
  if (steps_ == 0) return false;
  --steps_;
  if (depth == order_.size()) {
    best_ = board_.candidate();
    return true;
  }
  std::vector<std::uint32_t> choices;
  board_.Choices(choices);
  const std::uint32_t worker = order_[depth];
  std::stable_sort(choices.begin(), choices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return board_.Attach(worker, a) < board_.Attach(worker, b);
  });
  const auto rest = std::span(order_).subspan(depth + 1);
  for (std::uint32_t place : choices) {
    board_.Put(worker, place);
    bool finished = true;
    if (board_.MeetsRules() &&
        CanWin({board_.preferences(), board_.cost() + board_.LeastAttach(rest)})) {
      finished = Visit(depth + 1);
    }
    board_.Take(worker);
    if (!finished) return false;
  }
  return true;
}

// Second search: among placements with the least preferences and a cost within the limit, the best
// by the levels after the cost, then by names. Workers go in index order and places in name order,
// so that the first of equal placements is the least.
class LeastTies {
 public:
  LeastTies(Board& board, Preferences preferences, Int128 limit, std::uint32_t& steps)
      : board_(board), preferences_(preferences), limit_(limit), steps_(steps) {}

  void Know(const Candidate& candidate) {
    best_ = candidate;
    ties_ = BreakTies(board_.instance(), candidate.nodes);
  }
  bool Run() { return Visit(0); }
  const std::optional<Candidate>& best() const { return best_; }

 private:
  bool Visit(std::uint32_t worker);
  bool CanWin() const;

  Board& board_;
  Preferences preferences_;
  Int128 limit_;
  std::uint32_t& steps_;
  std::optional<Candidate> best_;
  TieBreakers ties_;  // of the best placement
};

// Whether the partial placement can still become less than the best; a whole placement must be
// less.
bool LeastTies::CanWin() const {
  const TieBreakers least = BreakTies(board_.instance(), board_.placed());
  const auto order =
      CompareTies(board_.instance().fabric(), {&least, board_.placed()}, {&ties_, best_->nodes});
  return order < 0 || (order == 0 && board_.placed().back() == kUnplaced);
}

bool LeastTies::Visit(std::uint32_t worker) {
  if (steps_ == 0) return false;
  --steps_;
  if (worker == board_.instance().workers()) {
    Know(board_.candidate());
    return true;
  }
  std::vector<std::uint32_t> choices, rest(board_.instance().workers() - worker - 1);
  std::iota(rest.begin(), rest.end(), worker + 1);
  board_.Choices(choices);
  const fabric::Fabric& fabric = board_.instance().fabric();
  std::sort(choices.begin(), choices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return fabric.name_rank(board_.node(a)) < fabric.name_rank(board_.node(b));
  });
  for (std::uint32_t place : choices) {
    board_.Put(worker, place);
    bool finished = true;
    if (board_.MeetsRules() && board_.preferences() <= preferences_ &&
        board_.cost() + board_.LeastAttach(rest) <= limit_ && CanWin()) {
      finished = Visit(worker + 1);
    }
    board_.Take(worker);
    if (!finished) return false;
  }
  return true;
}

std::uint32_t CountCandidates(const Instance& instance) {
  std::uint32_t count = 0;
  for (NodeIndex n = 0; n < instance.fabric().node_count(); ++n) count += MayHold(instance, n);
  return count;
}

}  // namespace

ExactResult SearchExactly(const Instance& instance, std::span<const Candidate> known,
                          int tolerance_percent, std::uint32_t steps) {
  ExactResult result;
  if (steps == 0 || instance.workers() == 0 || instance.workers() > kMostWorkers ||
      CountCandidates(instance) > kMostCandidates) {
    return result;
  }
  const Symmetry symmetry(instance);
  std::vector<Board> boards;  // one for each home
  for (std::vector<NodeIndex>& nodes : symmetry.Representatives(kMostNodes)) {
    boards.emplace_back(instance, symmetry, std::move(nodes));
  }
  if (boards.empty()) return result;
  std::vector<Candidate> incumbents(known.begin(), known.end());
  for (Board& board : boards) {
    LeastCost first(board, steps);
    for (const Candidate& candidate : incumbents) first.Know(candidate);
    const bool finished = first.Run();
    if (first.best()) incumbents.push_back(*first.best());
    result.best = first.best();
    if (!finished) return result;
  }
  if (!result.best) return result;
  result.finished = true;
  result.least = result.best->objective();

  const Int128 limit = CostLimit(result.least.cost, tolerance_percent);
  for (Board& board : boards) {
    LeastTies second(board, result.least.preferences, limit, steps);
    second.Know(incumbents[Best(instance, incumbents, tolerance_percent)]);
    second.Run();
    incumbents.push_back(*second.best());
  }
  result.best = incumbents[Best(instance, incumbents, tolerance_percent)];
  return result;
}

}  // namespace weft::placement
