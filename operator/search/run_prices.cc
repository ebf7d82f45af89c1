#include "operator/search/run_prices.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

constexpr std::size_t kWholeClique = 256;  // larger cliques are sampled, not counted pair by pair
constexpr int kPriceBits = 44;  // of the largest price: the sum of 2^18 prices fits in 62 bits

// By k, the bytes that leave a run of k units, summed over all `units` runs of the cyclic walk: an
// edge whose ends are d apart is cut by 2 min(d, k, units - k) of these runs.
std::vector<Int128> LeavingRuns(const traffic::WorkerGraph& graph,
                                std::span<const WorkerIndex> walk, std::uint32_t unit,
                                std::uint32_t units) {
  ByWorker<std::uint32_t> at(walk.size());  // the unit of each worker
  std::uint32_t last = 0;
  for (std::uint32_t i = 0, left = unit; i < walk.size(); ++i, --left) {
    if (left == 0 && last + 1 < units) ++last;
    if (left == 0) left = unit;
    at[walk[i]] = last;
  }
  std::vector<Int128> by_distance(units / 2 + 1, 0);
  const auto add = [&](std::uint32_t a, std::uint32_t b, Int128 bytes) {
    const std::uint32_t apart = a > b ? a - b : b - a;
    by_distance[std::min(apart, units - apart)] += bytes;
  };
  for (const traffic::Edge& edge : graph.edges()) {
    add(at[edge.a], at[edge.b], edge.bytes);
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    // In a small clique every pair counts. In a large one, a member is paired with members at
    // distances of powers of two, and each of these stands for all up to the next power.
    const std::size_t size = clique.members.size();
    const bool small = size <= kWholeClique;
    for (std::size_t step = 1; step < size; step = small ? step + 1 : 2 * step) {
      const Int128 bytes = Int128{clique.bytes_per_rank_pair} * (small ? 1 : Int128{step});
      for (std::size_t i = 0; i + step < size; ++i) {
        const auto &a = clique.members[i], &b = clique.members[i + step];
        add(at[a.worker], at[b.worker], bytes * a.ranks * b.ranks);
      }
    }
  }
  // Twice the sum over edges of min(d, k), by second differences; symmetric about half the walk.
  std::vector<Int128> leaving(units + 1, 0);
  Int128 longer = 0;  // bytes of edges at least k apart
  for (std::uint32_t d = 1; d < by_distance.size(); ++d) longer += by_distance[d];
  for (std::uint32_t k = 1; k <= units / 2; ++k) {
    leaving[k] = leaving[k - 1] + 2 * longer;
    longer -= by_distance[k];
    WEFT_DCHECK(longer >= 0);
  }
  for (std::uint32_t k = units / 2 + 1; k <= units; ++k) leaving[k] = leaving[units - k];
  return leaving;
}

constexpr std::uint32_t kStarts = 16;  // starts of sampled runs, evenly over the walk

// The bytes that leave runs of whole units that begin at a few places of a walk. An edge leaves a
// run [s, e) if it crosses one of its two ends, so the bytes are those that cross s, plus those
// that cross e, less twice those that cross both.
class SampledRuns {
 public:
  // Starts are the multiples of `apart`.
  SampledRuns(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> walk,
              std::uint32_t unit, std::uint32_t units, std::uint32_t apart)
      : graph_(graph), units_(units), apart_(apart), at_(walk.size()), cross_(units + 2, 0) {
    for (std::uint32_t i = 0; i < walk.size(); ++i) at_[walk[i]] = i / unit;  // `units`: left over
    over_.resize((units + apart - 1) / apart, std::vector<Int128>(units + 1, 0));
    for (const traffic::Edge& edge : graph.edges()) {
      const auto [first, last] = std::minmax(at_[edge.a], at_[edge.b]);
      if (first == last) continue;
      cross_[first + 1] += edge.bytes;
      cross_[last + 1] -= edge.bytes;
      // The starts in (first, last].
      for (std::size_t s = first / apart + 1; s < over_.size() && s * apart <= last; ++s) {
        over_[s][last] += edge.bytes;
      }
    }
    for (std::uint32_t u = 1; u <= units; ++u) cross_[u] += cross_[u - 1];
    for (std::vector<Int128>& over : over_) {
      for (std::uint32_t u = units; u-- > 0;) over[u] += over[u + 1];
    }
    AddCliques();
  }

  // Lowers least[k] to the bytes that leave k units from start `s` on, for k = 1 to `longest`, if
  // there are so many units; entries below 0 are not known yet.
  void Lower(std::uint32_t s, std::uint32_t longest, std::span<Int128> least) {
    const std::uint32_t begin = s * apart_;
    const std::uint32_t end = std::min(units_, begin + longest);
    if (!cliques_.empty()) LeaveCliques(begin, end);
    for (std::uint32_t e = begin + 1; e <= end; ++e) {
      const Int128 leaving = cross_[begin] + cross_[e] - 2 * over_[s][e] +
                             (cliques_.empty() ? Int128{0} : of_cliques_[e - begin]);
      Int128& known = least[e - begin];
      if (known < 0 || leaving < known) known = leaving;
    }
  }

  std::uint32_t starts() const { return static_cast<std::uint32_t>(over_.size()); }

 private:
  struct Member {
    std::uint32_t clique;
    std::int64_t ranks;
  };

  void AddCliques() {
    if (graph_.cliques().empty()) return;
    begin_.assign(units_ + 2, 0);
    for (const traffic::Clique& clique : graph_.cliques()) {
      cliques_.push_back({0, 0});
      for (const traffic::Seat& seat : clique.members) {
        cliques_.back().all += seat.ranks;
        ++begin_[at_[seat.worker] + 1];
      }
    }
    for (std::uint32_t u = 0; u <= units_; ++u) begin_[u + 1] += begin_[u];
    members_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t c = 0; c < graph_.cliques().size(); ++c) {
      for (const traffic::Seat& seat : graph_.cliques()[c].members) {
        members_[next[at_[seat.worker]]++] = {c, seat.ranks};
      }
    }
    of_cliques_.resize(units_ + 1);
  }

  // Fills of_cliques_: the bytes of cliques that leave each run that begins at `begin`.
  void LeaveCliques(std::uint32_t begin, std::uint32_t end) {
    for (Inside& clique : cliques_) clique.inside = 0;
    Int128 leaving = 0;
    for (std::uint32_t u = begin; u < end; ++u) {
      for (std::uint32_t m = begin_[u]; m < begin_[u + 1]; ++m) {
        const auto [c, more] = members_[m];
        Inside& clique = cliques_[c];
        leaving += Int128{more} * (clique.all - 2 * clique.inside - more) *
                   graph_.cliques()[c].bytes_per_rank_pair;
        clique.inside += more;
      }
      of_cliques_[u - begin + 1] = leaving;
    }
  }

  struct Inside {
    std::int64_t all, inside;  // ranks: of all members, of those in the run
  };

  const traffic::WorkerGraph& graph_;
  std::uint32_t units_, apart_;
  ByWorker<std::uint32_t> at_;             // unit
  std::vector<Int128> cross_;              // by unit: bytes from before it to it and what follows
  std::vector<std::vector<Int128>> over_;  // start x unit: bytes from before the start to the same
  std::vector<Inside> cliques_;
  std::vector<std::uint32_t> begin_;  // of members_, by unit
  std::vector<Member> members_;       // seats in cliques, unit by unit
  std::vector<Int128> of_cliques_;    // by units of the run
};

// By k, the least bytes that leave a run of k units, over runs from a few starts, times `units`.
// Runs longer than `longest` are not measured.
std::vector<Int128> LeavingLeast(const traffic::WorkerGraph& graph,
                                 std::span<const WorkerIndex> walk, std::uint32_t unit,
                                 std::uint32_t units, std::uint32_t longest) {
  SampledRuns runs(graph, walk, unit, units, std::max(1U, units / kStarts));
  std::vector<Int128> least(units + 1, -1);
  least[0] = 0;
  for (std::uint32_t s = 0; s < runs.starts(); ++s) runs.Lower(s, longest, least);
  WEFT_CHECK(longest <= units && least[longest] >= 0);  // a run of that length was measured
  std::fill(least.begin() + longest + 1, least.end(), least[longest]);
  for (Int128& bytes : least) bytes *= units;
  return least;
}

// The most units that a domain below the home can take.
std::uint32_t LongestRun(const objective::Tree& tree, std::uint32_t unit, std::uint32_t units) {
  std::uint64_t most = 1;
  for (DomainIndex d{0}; d < tree.domains(Tier{1}).EndIndex(); ++d) {
    most = std::max(most, tree.SlotsIn(Tier{1}, d) / unit);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, units));
}

}  // namespace

RunPrices::RunPrices(const traffic::WorkerGraph& graph, const objective::Tree& tree,
                     std::span<const WorkerIndex> walk, std::uint32_t unit, Kind kind)
    : units_(static_cast<std::uint32_t>(walk.size()) / unit), prices_(tree.node_tier() + 1) {
  WEFT_CHECK(units_ > 0 && walk.size() == graph.workers());
  const std::vector<Int128> leaving =
      kind == Kind::kMean ? LeavingRuns(graph, walk, unit, units_)
                          : LeavingLeast(graph, walk, unit, units_, LongestRun(tree, unit, units_));
  const Int128 most_bytes = *std::max_element(leaving.begin(), leaving.end());
  std::int64_t most_step = 1;
  for (Tier t{1}; t <= tree.node_tier(); ++t) most_step = std::max(most_step, tree.step(t));
  int byte_shift = 0;
  for (; most_bytes >> byte_shift > (Int128{1} << 62);) ++byte_shift;
  const Int128 most = (most_bytes >> byte_shift) * most_step;
  int shift = 0;
  for (; most >> shift >= (Int128{1} << kPriceBits);) ++shift;
  for (Tier t{0}; t <= tree.node_tier(); ++t) {
    for (const Int128 bytes : leaving) {
      prices_[t].push_back(
          static_cast<std::int64_t>(((bytes >> byte_shift) * tree.step(t)) >> shift));
    }
  }
}

}  // namespace weft::search
