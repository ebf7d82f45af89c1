#include "operator/search/anneal.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/units.h"
#include "operator/search/seats.h"
#include "operator/search/strand_moves.h"
#include "operator/search/strands.h"

namespace weft::search {

using fabric::NodeIndex;
using traffic::Edge;

namespace {

// Heats are parts of a hundred of what the mean worker sends over one hop.
// Large jobs begin cooler: their start arranges them well as a whole, and their steps are too few
// to find an arrangement as good.
constexpr std::int64_t kHot = 130, kHotOfLarge = 70, kCool = 15;
constexpr std::uint32_t kLarge = 2'000;
// Small jobs settle quickly, so the best of several short runs is better than one long run.
constexpr std::uint32_t kSmall = 128, kRunsOfSmall = 3;
// The heat falls by a fortieth at every stage, to a twelfth in all; then only moves that cost
// nothing are made.
constexpr std::int64_t kFall = 40;
constexpr std::uint64_t kStages = 98;
constexpr std::uint64_t kColdStages = 4;
constexpr std::uint32_t kStrandPercent = 20;  // proposals that move parts of strands
constexpr std::uint64_t kCoolShare = 5;       // the cool run gets a fifth of the steps
constexpr std::size_t kPeersOfStep = 4;
constexpr std::uint64_t kSeedsOfJob = 8;  // more than there are runs
constexpr int kAllBits = 40;              // bytes are scaled to this many bits in all
constexpr int kLogBits = 4;               // fraction bits of a logarithm

class Annealer {
 public:
  // `seats` outlive it.
  Annealer(const objective::Instance& instance, const Seats& seats, objective::Nodes start,
           std::uint64_t seed)
      : seats_(seats), random_(seed), workers_(instance.workers()) {
    WEFT_CHECK(start.size() == workers_ && seats.size() >= workers_);
    seating_.seat_of = seats.SeatsOf(start);
    seating_.at.assign(seats.size(), kNoWorker);
    for (const WorkerIndex w : Range<WorkerIndex>(workers_)) seating_.at[seating_.seat_of[w]] = w;
    ByWorker<WorkerIndex> each(workers_);  // each worker is a set of its own
    std::iota(each.begin(), each.end(), WorkerIndex{0});
    const std::vector<Edge> edges =
        objective::TrafficBetween(instance.graph(), each, WorkerIndex(workers_));
    digits_ = StrandsOf(instance, edges);
    MakePeers(edges);
    Measure();
  }

  void Run(std::uint64_t steps, std::int64_t hot) {
    StrandMoves strand_moves(digits_, seats_, seating_);
    std::int64_t heat = (per_worker_ * hot / 100) >> kLogBits;
    for (std::uint64_t stage = 0; stage < kStages + kColdStages; ++stage) {
      heat = stage < kStages ? heat - heat / kFall : 0;
      for (std::uint64_t i = 0; i < steps / (kStages + kColdStages);) {
        i += Draw(random_, 100) < kStrandPercent ? MoveStrand(strand_moves, heat) : MoveOne(heat);
      }
    }
    const ByWorker<std::int64_t> cost = cost_;
    Measure();
    WEFT_CHECK(cost == cost_);  // costs that are off would have misled every step
    for (const WorkerIndex w : Range<WorkerIndex>(workers_)) WEFT_CHECK(seating_.at[seat(w)] == w);
  }

  ByWorker<NodeIndex> Nodes() const {
    ByWorker<NodeIndex> nodes;
    for (const std::uint32_t seat : seating_.seat_of) nodes.push_back(seats_.node(seat));
    return nodes;
  }

 private:
  struct Peer {
    WorkerIndex worker;
    std::int64_t bytes = 0;
  };

  std::span<const Peer> Peers(WorkerIndex worker) const {
    return std::span(peers_).subspan(begin_[worker], begin_[worker + 1] - begin_[worker]);
  }
  std::uint32_t seat(WorkerIndex worker) const { return seating_.seat_of[worker]; }

  void MakePeers(std::span<const Edge> edges) {
    begin_.assign(workers_ + 1, 0);
    Int128 all = 0;
    for (const Edge& edge : edges) {
      ++begin_[edge.a + 1];
      ++begin_[edge.b + 1];
      all += edge.bytes;
    }
    for (const WorkerIndex w : Range<WorkerIndex>(workers_)) begin_[w + 1] += begin_[w];
    int shift = 0;
    while (all >> shift >> kAllBits > 0) ++shift;
    peers_.resize(2 * edges.size());
    ByWorker<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const Edge& edge : edges) {
      peers_[next[edge.a]++] = {edge.b, edge.bytes >> shift};
      peers_[next[edge.b]++] = {edge.a, edge.bytes >> shift};
    }
    per_worker_ = static_cast<std::int64_t>((all >> shift) / workers_);
  }

  void Measure() {
    cost_.assign(workers_, 0);
    least_.assign(workers_, 0);
    for (const WorkerIndex w : Range<WorkerIndex>(workers_)) {
      for (const Peer& peer : Peers(w)) {
        cost_[w] += peer.bytes * seats_.Hops(seat(w), seat(peer.worker));
        least_[w] += peer.bytes;
      }
    }
  }

  // By how much the cost may rise: the heat times -log2 of a random number between 0 and 1. The
  // logarithm's fraction is that of a straight line between powers of two.
  std::int64_t Limit(std::int64_t heat) {
    const std::uint64_t number = random_.Next() | 1;
    const int zeros = std::countl_zero(number);
    const std::uint64_t fraction = number << zeros << 1 >> (64 - kLogBits);
    return heat *
           ((std::int64_t{zeros} + 1) * (1 << kLogBits) - 1 - static_cast<std::int64_t>(fraction));
  }

  // One of two random workers, the one that could gain more.
  WorkerIndex Costly() {
    const WorkerIndex a(Draw(random_, workers_)), b(Draw(random_, workers_));
    return cost_[a] - least_[a] >= cost_[b] - least_[b] ? a : b;
  }

  // A seat near one of the worker's peers. In half of the cases it is that of two which is nearer
  // to another peer: a worker often costs least between its peers.
  std::uint32_t SeatFor(std::span<const Peer> peers) {
    const auto count = static_cast<std::uint32_t>(peers.size());
    const std::uint32_t peer = seat(peers[Draw(random_, count)].worker);
    const auto near = seats_.Near(peer);
    if (near.empty()) return peer;
    const auto near_count = static_cast<std::uint32_t>(near.size());
    const std::uint32_t to = near[Draw(random_, near_count)];
    if (Draw(random_, 2) == 0) return to;
    const std::uint32_t second = near[Draw(random_, near_count)];
    const std::uint32_t other = seat(peers[Draw(random_, count)].worker);
    return seats_.Hops(second, other) < seats_.Hops(to, other) ? second : to;
  }

  // Moves a worker to a seat near its peers; who sits there gets its seat. Returns the steps spent:
  // one for up to kPeersOfStep peers.
  std::uint64_t MoveOne(std::int64_t heat) {
    const WorkerIndex worker = Costly();
    const std::uint32_t from = seat(worker);
    const auto peers = Peers(worker);
    if (peers.empty()) return 1;
    const std::uint64_t spent = std::max<std::uint64_t>(1, peers.size() / kPeersOfStep);
    const std::uint32_t to = SeatFor(peers);
    const WorkerIndex other = seating_.at[to];
    if (to == from) return spent;
    const std::int64_t limit = Limit(heat);
    const std::int64_t more = CostAt(worker, to, other, from) - cost_[worker];
    if (other == kNoWorker) {
      if (more > limit) return spent;
    } else {
      // Most proposals end here: the other worker cannot gain enough.
      if (more - cost_[other] + LeastOf(other) > limit) return spent;
      if (more + CostAt(other, from, worker, to) - cost_[other] > limit) return spent;
    }
    Reseat({worker, to});
    if (other != kNoWorker) Reseat({other, from});
    seating_.at[from] = other;
    seating_.at[to] = worker;
    return spent;
  }

  // A lower bound of what the worker costs anywhere; peers may share a host.
  std::int64_t LeastOf(WorkerIndex worker) const {
    return seats_.one_a_host() ? least_[worker] : 0;
  }

  // What the worker costs at seat `to` if `other` then sits at `of_other`.
  std::int64_t CostAt(WorkerIndex worker, std::uint32_t to, WorkerIndex other,
                      std::uint32_t of_other) const {
    std::int64_t sum = 0;
    for (const Peer& peer : Peers(worker)) {
      sum += peer.bytes * seats_.Hops(to, peer.worker == other ? of_other : seat(peer.worker));
    }
    return sum;
  }

  // Moves several workers at once; returns how many were proposed, at least 1.
  std::uint64_t MoveStrand(StrandMoves& strand_moves, std::int64_t heat) {
    const auto& moves = strand_moves.Propose(random_);
    if (moves.empty()) return 1;
    before_.clear();
    std::int64_t more = 0;
    for (const auto& move : moves) {
      before_.push_back({move.worker, seat(move.worker)});
      more += Reseat(move);
    }
    if (more > Limit(heat)) {
      for (std::size_t i = before_.size(); i-- > 0;) Reseat(before_[i]);
      return moves.size();
    }
    for (const auto& one : before_) seating_.at[one.seat] = kNoWorker;
    for (const auto& move : moves) {
      WEFT_DCHECK(seating_.at[move.seat] == kNoWorker);  // else two workers have one seat
      seating_.at[move.seat] = move.worker;
    }
    return moves.size();
  }

  // Seats one worker, whoever else sits there; returns by how much the cost of the job rises.
  std::int64_t Reseat(const StrandMoves::Move& move) {
    const std::uint32_t from = seat(move.worker);
    std::int64_t sum = 0;
    for (const Peer& peer : Peers(move.worker)) {
      const std::uint32_t at = seat(peer.worker);
      const std::int64_t more =
          peer.bytes * (std::int64_t{seats_.Hops(move.seat, at)} - seats_.Hops(from, at));
      cost_[peer.worker] += more;
      sum += more;
    }
    cost_[move.worker] += sum;
    seating_.seat_of[move.worker] = move.seat;
    return sum;
  }

  const Seats& seats_;
  SplitMix64 random_;
  std::uint32_t workers_;
  std::int64_t per_worker_ = 0;  // bytes of all pairs by workers
  Seating seating_;
  std::vector<Strands> digits_;
  ByWorker<std::uint32_t> begin_;  // into peers_
  std::vector<Peer> peers_;
  ByWorker<std::int64_t> cost_;   // its bytes x hops
  ByWorker<std::int64_t> least_;  // the same if all peers were one hop away
  std::vector<StrandMoves::Move> before_;
};

// Whether the placement is inside one torus, in which every placement costs bytes x hops.
bool CostsHops(const objective::Instance& instance, objective::Nodes nodes) {
  const fabric::Torus& torus = *instance.pair_cost().torus();
  const fabric::TorusShape& shape = torus.ShapeAround(nodes.front());
  std::int64_t farthest = 0;
  for (std::size_t d = 0; d < fabric::kTorusDimensions; ++d) {
    farthest += shape.wraps(d) ? shape.sizes()[d] / 2 : shape.sizes()[d] - 1;
  }
  if (farthest * instance.pair_cost().hop_weight() > instance.pair_cost().LeastOffTorus()) {
    return false;
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](NodeIndex n) { return torus.SameTorus(n, nodes.front()); });
}

}  // namespace

bool AnnealBest(const objective::Instance& instance, Int128 enough,
                std::vector<objective::Candidate>& candidates) {
  const std::uint64_t steps = instance.limits().AnnealStepsFor(instance.workers());
  const auto reached = [&] { return candidates.empty() || candidates.front().cost <= enough; };
  if (instance.pair_cost().torus() == nullptr || instance.has_groups()) return false;
  if (steps == 0 || instance.workers() < 2 || reached()) return false;
  const std::uint32_t hot_runs = instance.workers() <= kSmall ? kRunsOfSmall : 1;
  const std::int64_t hot = instance.workers() > kLarge ? kHotOfLarge : kHot;
  bool one_a_host = true;
  for (std::uint32_t run = 0; run <= hot_runs; ++run) {
    const auto start = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const objective::Candidate& candidate) {
                                      return CostsHops(instance, candidate.nodes);
                                    });
    if (start == candidates.end()) return false;
    if (reached()) break;
    const fabric::Tier home = objective::HomeTier(instance.request(), start->preferences);
    const auto& domains = instance.fabric().domains(home);
    const fabric::DomainIndex domain = domains.of_node[start->nodes.front()];
    const Seats seats(instance, start->nodes, domains.begin[domain], domains.begin[domain + 1]);
    one_a_host = one_a_host && seats.one_a_host();
    Annealer annealer(instance, seats, start->nodes, kSeedsOfJob * instance.limits().seed + run);
    const std::uint64_t cool_steps = steps / kCoolShare;
    if (run < hot_runs) {
      annealer.Run((steps - cool_steps) / hot_runs, hot);
    } else {
      annealer.Run(cool_steps, kCool);
    }
    ByWorker<NodeIndex> nodes = annealer.Nodes();
    if (!objective::MeetsTopology(instance, nodes)) continue;
    objective::InsertInOrder(objective::Evaluate(instance, std::move(nodes)), candidates);
  }
  return one_a_host && CostsHops(instance, candidates.front().nodes);
}

}  // namespace weft::search
