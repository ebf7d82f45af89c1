#include "operator/traffic/worker_graph.h"

#include <algorithm>

#include "operator/base/units.h"

namespace weft::traffic {

namespace {

// A clique becomes edges while that takes at most this many edges a member.
constexpr std::size_t kEdgesPerMember = 4;

// Workers of one group's members, in order; ranks of one worker that follow each other once.
void WorkersOf(std::span<const std::uint32_t> group, std::uint32_t per_worker,
               std::vector<Clique::Member>& seats) {
  seats.clear();
  for (std::uint32_t rank : group) {
    const std::uint32_t worker = rank / per_worker;
    if (!seats.empty() && seats.back().worker == worker) {
      ++seats.back().ranks;
    } else {
      seats.push_back({worker, 1});
    }
  }
}

bool Same(const std::vector<Clique::Member>& a, const std::vector<Clique::Member>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.worker == y.worker && x.ranks == y.ranks;
  });
}

void Emit(std::uint32_t a, std::uint32_t b, std::int64_t bytes, std::vector<Edge>& raw) {
  if (a == b || bytes <= 0) return;
  raw.push_back({std::min(a, b), std::max(a, b), bytes});
}

// Each seat sends from its last rank to the first of the next.
void EmitRing(const std::vector<Clique::Member>& seats, std::int64_t amount,
              std::vector<Edge>& raw) {
  if (seats.size() < 2) return;
  for (std::size_t i = 0; i + 1 < seats.size(); ++i) {
    Emit(seats[i].worker, seats[i + 1].worker, amount, raw);
  }
  Emit(seats.back().worker, seats.front().worker, amount, raw);
}

// Stages stand in order; seats hold runs of stages. `times` alike groups.
void EmitStages(const std::vector<Clique::Member>& seats, const GroupFamily& family,
                std::int64_t times, std::vector<Edge>& raw) {
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

// Edges by (a, b), each pair once: a counting sort by a, then short runs by b.
std::vector<Edge> Merge(const std::vector<Edge>& raw, std::uint32_t workers) {
  std::vector<std::uint32_t> begin(workers + 1, 0);
  for (const Edge& edge : raw) ++begin[edge.a + 1];
  for (std::uint32_t w = 0; w < workers; ++w) begin[w + 1] += begin[w];
  std::vector<Edge> sorted(raw.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const Edge& edge : raw) sorted[next[edge.a]++] = edge;
  std::size_t kept = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const auto first = sorted.begin() + begin[w], last = sorted.begin() + begin[w + 1];
    std::sort(first, last, [](const Edge& x, const Edge& y) { return x.b < y.b; });
    const std::size_t start = kept;
    for (std::uint32_t i = begin[w]; i < begin[w + 1]; ++i) {
      if (kept > start && sorted[kept - 1].b == sorted[i].b) {
        sorted[kept - 1].bytes = SaturatingAdd(sorted[kept - 1].bytes, sorted[i].bytes);
      } else {
        sorted[kept++] = sorted[i];
      }
    }
  }
  sorted.resize(kept);
  return sorted;
}

}  // namespace

WorkerGraph::WorkerGraph(const Traffic& traffic) : workers_(traffic.workers) {
  std::vector<Edge> raw;
  for (const GroupFamily& family : traffic.families) Add(traffic, family, raw);
  Finish(raw);
}

WorkerGraph::WorkerGraph(const Traffic& traffic, std::span<const GroupFamily* const> families)
    : workers_(traffic.workers) {
  std::vector<Edge> raw;
  for (const GroupFamily* family : families) Add(traffic, *family, raw);
  Finish(raw);
}

// Groups that follow each other and sit in the same workers alike are added up first: with a
// tensor group a worker that is every group but one in perWorker.
void WorkerGraph::Add(const Traffic& traffic, const GroupFamily& family, std::vector<Edge>& raw) {
  std::vector<Clique::Member> seats, next;
  std::int64_t times = 0;
  const std::size_t groups = family.groups();
  for (std::size_t g = 0; g <= groups; ++g) {
    if (g < groups) {
      WorkersOf(family.group(g), traffic.per_worker, next);
      if (times > 0 && Same(seats, next)) {
        ++times;
        continue;
      }
    }
    if (times > 0 && seats.size() > 1) AddAlike(family, seats, times, raw);
    std::swap(seats, next);
    times = 1;
  }
}

void WorkerGraph::AddAlike(const GroupFamily& family, std::vector<Clique::Member>& seats,
                           std::int64_t times, std::vector<Edge>& raw) {
  if (family.pattern == Pattern::kRing) {
    EmitRing(seats, SaturatingMultiply(family.amount, times), raw);
    return;
  }
  if (family.pattern == Pattern::kNeighbours) {
    EmitStages(seats, family, times, raw);
    return;
  }
  std::sort(seats.begin(), seats.end(),
            [](const auto& x, const auto& y) { return x.worker < y.worker; });
  std::size_t kept = 0;
  for (const Clique::Member& seat : seats) {
    if (kept > 0 && seats[kept - 1].worker == seat.worker) {
      seats[kept - 1].ranks += seat.ranks;
    } else {
      seats[kept++] = seat;
    }
  }
  seats.resize(kept);
  const std::int64_t pair = SaturatingMultiply(SaturatingAdd(family.amount, family.amount), times);
  if ((seats.size() - 1) / 2 > kEdgesPerMember) {
    cliques_.push_back({seats, pair});
    return;
  }
  for (std::size_t i = 0; i < seats.size(); ++i) {
    for (std::size_t j = i + 1; j < seats.size(); ++j) {
      const std::int64_t pairs = static_cast<std::int64_t>(seats[i].ranks) * seats[j].ranks;
      Emit(seats[i].worker, seats[j].worker, SaturatingMultiply(pairs, pair), raw);
    }
  }
}

void WorkerGraph::Finish(const std::vector<Edge>& raw) {
  edges_ = Merge(raw, workers_);
  begin_.assign(workers_ + 1, 0);
  for (const Edge& edge : edges_) {
    ++begin_[edge.a + 1];
    ++begin_[edge.b + 1];
  }
  for (std::uint32_t w = 0; w < workers_; ++w) begin_[w + 1] += begin_[w];
  neighbours_.resize(2 * edges_.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  // Edges ascend by (a, b), so each list ascends: lower neighbours come from earlier edges.
  for (const Edge& edge : edges_) {
    neighbours_[next[edge.b]++] = {edge.a, edge.bytes};
    neighbours_[next[edge.a]++] = {edge.b, edge.bytes};
  }
  clique_begin_.assign(workers_ + 1, 0);
  for (const Clique& clique : cliques_) {
    for (const auto& member : clique.members) ++clique_begin_[member.worker + 1];
  }
  for (std::uint32_t w = 0; w < workers_; ++w) clique_begin_[w + 1] += clique_begin_[w];
  clique_index_.resize(clique_begin_.back());
  std::vector<std::uint32_t> slot(clique_begin_.begin(), clique_begin_.end() - 1);
  for (std::uint32_t c = 0; c < cliques_.size(); ++c) {
    for (const auto& member : cliques_[c].members) clique_index_[slot[member.worker]++] = c;
  }
}

}  // namespace weft::traffic
