#include "operator/search/strands.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"
#include "operator/objective/units.h"

namespace weft::search {

using traffic::Edge;

namespace {

// Larger clusters are not moved as a whole: what they would have to change places with is seldom
// as large.
constexpr std::uint32_t kLargestCluster = 16;

// The edges along each digit of the grid, the digit with the most bytes per edge first. Edges
// between workers that differ in several digits are left out.
std::vector<std::vector<Edge>> ByDigit(const objective::Instance& instance,
                                       std::span<const Edge> edges) {
  std::vector<std::uint32_t> grid(instance.grid().sizes().begin(), instance.grid().sizes().end());
  if (objective::Volume(grid) != instance.workers()) grid = {instance.workers()};
  std::vector<std::vector<Edge>> along(grid.size());
  for (const Edge& edge : edges) {
    std::uint32_t a = edge.a.Raw(), b = edge.b.Raw();
    std::size_t digit = 0;
    int differ = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (a % grid[i] != b % grid[i]) {
        ++differ;
        digit = i;
      }
      a /= grid[i];
      b /= grid[i];
    }
    if (differ == 1) along[digit].push_back(edge);
  }
  std::erase_if(along, [](const auto& of_digit) { return of_digit.empty(); });
  const auto mean = [](const std::vector<Edge>& of_digit) {
    Int128 sum = 0;
    for (const Edge& edge : of_digit) sum += edge.bytes;
    return sum / static_cast<Int128>(of_digit.size());
  };
  std::stable_sort(along.begin(), along.end(),
                   [&](const auto& a, const auto& b) { return mean(a) > mean(b); });
  return along;
}

}  // namespace

WorkerIndex Strands::Along(WorkerIndex worker, std::int64_t steps) const {
  if (strand_of_[worker] == kNone) return kNoWorker;
  const Strand& strand = strands_[strand_of_[worker]];
  const auto size = static_cast<std::int64_t>(strand.workers.size());
  std::int64_t at = at_[worker] + steps;
  if (strand.ring) at = (at % size + size) % size;
  return at < 0 || at >= size ? kNoWorker : strand.workers[static_cast<std::size_t>(at)];
}

std::int64_t Strands::StepsTo(WorkerIndex from, WorkerIndex to, int direction) const {
  if (strand_of_[from] == kNone || strand_of_[from] != strand_of_[to]) return 0;
  const Strand& strand = strands_[strand_of_[from]];
  const auto size = static_cast<std::int64_t>(strand.workers.size());
  const std::int64_t steps = (std::int64_t{at_[to]} - at_[from]) * direction;
  return strand.ring ? (steps + size) % size : std::max<std::int64_t>(0, steps);
}

// Makes strands: a worker is linked to the first two workers that it has an edge to.
void Strands::Link(std::span<const Edge> edges) {
  strand_of_.assign(cluster_of_.size(), kNone);
  at_.assign(cluster_of_.size(), 0);
  ByWorker<std::array<WorkerIndex, 2>> next(cluster_of_.size(), {kNoWorker, kNoWorker});
  for (const Edge& edge : edges) {
    if (next[edge.a][1] != kNoWorker || next[edge.b][1] != kNoWorker) continue;
    next[edge.a][next[edge.a][0] == kNoWorker ? 0 : 1] = edge.b;
    next[edge.b][next[edge.b][0] == kNoWorker ? 0 : 1] = edge.a;
  }
  // Paths are followed from their ends; what is left are rings.
  for (const bool ring : {false, true}) {
    for (const WorkerIndex w : next.Indices()) {
      if (next[w][0] == kNoWorker || (!ring && next[w][1] != kNoWorker)) continue;
      if (strand_of_[w] == kNone) Follow(next, w, ring);
    }
  }
}

void Strands::Follow(const ByWorker<std::array<WorkerIndex, 2>>& next, WorkerIndex from,
                     bool ring) {
  Strand strand;
  strand.ring = ring;
  WorkerIndex before = kNoWorker;
  for (WorkerIndex w = from; w != kNoWorker && strand_of_[w] == kNone;) {
    strand_of_[w] = static_cast<std::uint32_t>(strands_.size());
    at_[w] = static_cast<std::uint32_t>(strand.workers.size());
    strand.workers.push_back(w);
    const WorkerIndex following = next[w][0] != before ? next[w][0] : next[w][1];
    before = w;
    w = following;
  }
  strands_.push_back(std::move(strand));
}

// Makes clusters of the joined workers.
void Strands::Join(std::uint32_t workers, UnionFind& joined) {
  cluster_of_.assign(workers, kNone);
  in_cluster_.assign(workers, 0);
  for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
    const WorkerIndex first(joined.Find(w.Raw()));  // the lowest worker of the cluster
    if (first == w) {
      cluster_of_[w] = static_cast<std::uint32_t>(clusters_.size());
      clusters_.emplace_back();
    }
    WEFT_CHECK(first <= w);  // so its cluster is there
    cluster_of_[w] = cluster_of_[first];
    std::vector<WorkerIndex>& cluster = clusters_[cluster_of_[w]];
    in_cluster_[w] = static_cast<std::uint32_t>(cluster.size());
    cluster.push_back(w);
    largest_cluster_ = std::max(largest_cluster_, static_cast<std::uint32_t>(cluster.size()));
  }
}

std::vector<Strands> StrandsOf(const objective::Instance& instance, std::span<const Edge> edges) {
  std::vector<Strands> all;
  UnionFind joined(instance.workers());  // by the digits so far
  UnionFind clusters = joined;           // the last that were not too large
  for (const std::vector<Edge>& along : ByDigit(instance, edges)) {
    Strands strands;
    strands.Join(instance.workers(), joined);
    if (strands.largest_cluster() > kLargestCluster) {
      strands = Strands();
      strands.Join(instance.workers(), clusters);
    } else {
      clusters = joined;
    }
    strands.Link(along);
    all.push_back(std::move(strands));
    for (const Edge& edge : along) joined.Join(edge.a.Raw(), edge.b.Raw());
  }
  return all;
}

}  // namespace weft::search
