#include "operator/traffic/worker_graph.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/units.h"

namespace weft::traffic {

namespace {

// A clique becomes edges if that takes at most this many edges per member.
constexpr std::size_t kEdgesPerMember = 4;

inline void Emit(WorkerIndex a, WorkerIndex b, std::int64_t bytes, std::vector<Edge>& raw) {
  if (a == b || bytes <= 0) return;
  raw.push_back({std::min(a, b), std::max(a, b), bytes});
}

// The last rank of each seat sends to the first rank of the next seat.
void EmitRing(std::span<const Seat> seats, std::int64_t amount, std::vector<Edge>& raw) {
  if (seats.size() < 2) return;
  for (std::size_t i = 0; i + 1 < seats.size(); ++i) {
    Emit(seats[i].worker, seats[i + 1].worker, amount, raw);
  }
  Emit(seats.back().worker, seats.front().worker, amount, raw);
}

// Stages are in order, and a seat has consecutive stages. There are `times` equal groups.
void EmitStages(std::span<const Seat> seats, const GroupFamily& family, std::int64_t times,
                std::vector<Edge>& raw) {
  const std::uint32_t last = family.group_size - 1;
  std::uint32_t stage = 0;  // last stage of seat i
  for (std::size_t i = 0; i + 1 < seats.size(); ++i) {
    stage += seats[i].ranks;
    const std::uint32_t low = stage - 1, high = stage;
    const std::int64_t up = low == 0 ? family.end_amount : family.amount;
    const std::int64_t down = high == last ? family.end_amount : family.amount;
    Emit(seats[i].worker, seats[i + 1].worker, SaturatingMultiply(SaturatingAdd(up, down), times),
         raw);
  }
  if (family.wrap_amount > 0) {
    Emit(seats.back().worker, seats.front().worker,
         SaturatingMultiply(SaturatingAdd(family.wrap_amount, family.wrap_amount), times), raw);
  }
}

// Sorts by b. Most runs are a handful of edges, already nearly in order.
void SortByB(std::span<Edge> run) {
  constexpr std::size_t kShortRun = 32;  // edges; insertion sort of longer runs would be slow
  if (run.size() > kShortRun) {
    std::sort(run.begin(), run.end(), [](const Edge& x, const Edge& y) { return x.b < y.b; });
    return;
  }
  for (std::size_t i = 1; i < run.size(); ++i) {
    const Edge edge = run[i];
    std::size_t at = i;
    for (; at > 0 && run[at - 1].b > edge.b; --at) run[at] = run[at - 1];
    run[at] = edge;
  }
}

// Sorts edges by (a, b) and merges equal pairs: a counting sort by a, then short runs by b. Takes
// over `raw`, so that its memory is free afterwards.
std::vector<Edge> Merge(std::vector<Edge> raw, std::uint32_t workers) {
  ByWorker<std::uint32_t> end(workers + 1, 0);  // of a worker's edges, once placed
  for (const Edge& edge : raw) ++end[edge.a + 1];
  for (const WorkerIndex w : Range<WorkerIndex>(workers)) end[w + 1] += end[w];
  std::vector<Edge> sorted(raw.size());
  for (const Edge& edge : raw) sorted[end[edge.a]++] = edge;
  std::size_t kept = 0, begin = 0;
  for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
    SortByB(std::span(sorted).subspan(begin, end[w] - begin));
    const std::size_t start = kept;
    for (std::size_t i = begin; i < end[w]; ++i) {
      if (kept > start && sorted[kept - 1].b == sorted[i].b) {
        sorted[kept - 1].bytes = SaturatingAdd(sorted[kept - 1].bytes, sorted[i].bytes);
      } else {
        sorted[kept++] = sorted[i];
      }
    }
    begin = end[w];
  }
  sorted.resize(kept);
  return sorted;
}

}  // namespace

WorkerGraph::WorkerGraph(const Traffic& traffic) : workers_(traffic.workers) {
  Build(traffic, std::nullopt);
}

WorkerGraph::WorkerGraph(const Traffic& traffic, Axis axis) : workers_(traffic.workers) {
  Build(traffic, axis);
}

void WorkerGraph::Build(const Traffic& traffic, std::optional<Axis> only) {
  WEFT_CHECK(traffic.seated.size() == traffic.families.size());
  std::size_t most = 0;  // edges of rings and stages; reserved, because growing would copy them
  for (const SeatedGroups& seated : traffic.seated) most += seated.seats_in_all();
  std::vector<Edge> raw;
  raw.reserve(most);
  for (std::size_t f = 0; f < traffic.families.size(); ++f) {
    const GroupFamily& family = traffic.families[f];
    if (!only || family.axis == *only) Add(family, traffic.seated[f], raw);
  }
  edges_ = Merge(std::move(raw), workers_);
  Finish();
}

void WorkerGraph::Add(const GroupFamily& family, const SeatedGroups& seated,
                      std::vector<Edge>& raw) {
  for (std::size_t b = 0; b < seated.batches(); ++b) {
    const auto seats = seated.seats(b);
    if (seats.size() < 2) continue;
    const std::int64_t times = seated.groups(b);
    const std::int64_t amount = SaturatingMultiply(family.amount, times);
    if (family.pattern == Pattern::kRing) {
      EmitRing(seats, amount, raw);
    } else if (family.pattern == Pattern::kNeighbours) {
      EmitStages(seats, family, times, raw);
    } else {
      AddClique(seats, SaturatingAdd(amount, amount), raw);
    }
  }
}

void WorkerGraph::AddClique(std::span<const Seat> seats, std::int64_t pair,
                            std::vector<Edge>& raw) {
  std::vector<Seat> members(seats.begin(), seats.end());
  std::sort(members.begin(), members.end(),
            [](const Seat& x, const Seat& y) { return x.worker < y.worker; });
  std::size_t kept = 0;
  for (const Seat& member : members) {
    if (kept > 0 && members[kept - 1].worker == member.worker) {
      members[kept - 1].ranks += member.ranks;
    } else {
      members[kept++] = member;
    }
  }
  members.resize(kept);
  if (members.size() - 1 > 2 * kEdgesPerMember) {  // n (n - 1) / 2 edges for n members
    cliques_.push_back({std::move(members), pair});
    return;
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      const std::int64_t pairs = static_cast<std::int64_t>(members[i].ranks) * members[j].ranks;
      Emit(members[i].worker, members[j].worker, SaturatingMultiply(pairs, pair), raw);
    }
  }
}

void WorkerGraph::Finish() {
  begin_.assign(workers_ + 1, 0);
  for (const Edge& edge : edges_) {
    ++begin_[edge.a + 1];
    ++begin_[edge.b + 1];
  }
  for (const WorkerIndex w : Range<WorkerIndex>(workers_)) begin_[w + 1] += begin_[w];
  neighbours_.resize(2 * edges_.size());
  ByWorker<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  // Edges ascend by (a, b), so each list ascends too: lower neighbours come from earlier edges.
  for (const Edge& edge : edges_) {
    neighbours_[next[edge.b]++] = {edge.a, edge.bytes};
    neighbours_[next[edge.a]++] = {edge.b, edge.bytes};
  }
  clique_begin_.assign(workers_ + 1, 0);
  for (const Clique& clique : cliques_) {
    for (const auto& member : clique.members) ++clique_begin_[member.worker + 1];
  }
  for (const WorkerIndex w : Range<WorkerIndex>(workers_)) clique_begin_[w + 1] += clique_begin_[w];
  clique_index_.resize(clique_begin_.back());
  ByWorker<std::uint32_t> slot(clique_begin_.begin(), clique_begin_.end() - 1);
  for (std::uint32_t c = 0; c < cliques_.size(); ++c) {
    for (const auto& member : cliques_[c].members) clique_index_[slot[member.worker]++] = c;
  }
}

}  // namespace weft::traffic
