#include "operator/search/knapsack.h"

#include <algorithm>
#include <limits>

#include "operator/base/lanes.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

// Only this many children of a domain, the roomiest, are considered: jobs use few domains of a wide
// tier.
constexpr std::size_t kMostChildren = 64;
// How many numbers of units are tried for one child. If there are more, only some of them and the
// hull's corners are.
constexpr std::size_t kMostOptions = 24, kFewestOptions = 6;
// Large jobs get fewer options: options times wanted units stay below this, but at least
// kFewestOptions remain.
constexpr std::size_t kMostSums = 49'152;
constexpr std::size_t kWholeClique = 256;  // larger cliques are sampled, not counted pair by pair
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kPriceBits = 44;  // of the largest price: the sum of 2^18 prices fits in 62 bits

// By k, the bytes that leave a run of k units, summed over all `units` runs of the cyclic walk: an
// edge whose ends are d apart is cut by 2 min(d, k, units - k) of these runs.
std::vector<Int128> LeavingRuns(const traffic::WorkerGraph& graph,
                                std::span<const std::uint32_t> walk, std::uint32_t unit,
                                std::uint32_t units) {
  std::vector<std::uint32_t> at(walk.size());  // the unit of each worker
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
  }
  for (std::uint32_t k = units / 2 + 1; k <= units; ++k) leaving[k] = leaving[units - k];
  return leaving;
}

constexpr std::uint32_t kStarts = 16;  // starts of sampled runs, evenly over the walk

// The bytes that leave a run of the walk, updated as the run grows at its end.
class GrowingRun {
 public:
  GrowingRun(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> walk)
      : graph_(graph), walk_(walk), at_(walk.size()), inside_(graph.cliques().size(), 0) {
    for (std::uint32_t i = 0; i < walk.size(); ++i) at_[walk[i]] = i;
    if (graph.cliques().empty()) return;
    ranks_begin_.assign(walk.size() + 1, 0);
    for (std::uint32_t w = 0; w < walk.size(); ++w) {
      ranks_begin_[w + 1] =
          ranks_begin_[w] + static_cast<std::uint32_t>(graph.cliques_of(w).size());
    }
    ranks_.resize(ranks_begin_.back());
    std::vector<std::uint32_t> next(ranks_begin_.begin(), ranks_begin_.end() - 1);
    for (const traffic::Clique& clique : graph.cliques()) {
      all_.push_back(0);
      for (const traffic::Seat& seat : clique.members) {
        ranks_[next[seat.worker]++] = seat.ranks;
        all_.back() += seat.ranks;
      }
    }
  }

  void Restart(std::uint32_t start) {
    start_ = end_ = start;
    leaving_ = 0;
    std::fill(inside_.begin(), inside_.end(), 0);
  }
  void Grow() {
    const std::uint32_t worker = walk_[end_];
    const std::uint32_t length = end_ - start_;
    for (const traffic::Neighbour& peer : graph_.neighbours(worker)) {
      const bool inside = at_[peer.worker] - start_ < length;  // wraps if before the run
      leaving_ += inside ? -Int128{peer.bytes} : Int128{peer.bytes};
    }
    const auto cliques = graph_.cliques_of(worker);
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      const std::uint32_t c = cliques[i];
      const std::int64_t more = ranks_[ranks_begin_[worker] + i];
      leaving_ += Int128{more} * (all_[c] - 2 * inside_[c] - more) *
                  graph_.cliques()[c].bytes_per_rank_pair;
      inside_[c] += more;
    }
    ++end_;
  }
  Int128 leaving() const { return leaving_; }

 private:
  const traffic::WorkerGraph& graph_;
  std::span<const std::uint32_t> walk_;
  std::vector<std::uint32_t> at_;                   // place in the walk, by worker
  std::vector<std::int64_t> all_, inside_;          // ranks by clique: in all members, in the run
  std::vector<std::uint32_t> ranks_begin_, ranks_;  // by worker: ranks in each of its cliques
  std::uint32_t start_ = 0, end_ = 0;
  Int128 leaving_ = 0;
};

// By k, the least bytes that leave a run of k units, over runs from a few starts, times `units`.
// Runs longer than `longest` are not measured.
std::vector<Int128> LeavingLeast(const traffic::WorkerGraph& graph,
                                 std::span<const std::uint32_t> walk, std::uint32_t unit,
                                 std::uint32_t units, std::uint32_t longest) {
  GrowingRun run(graph, walk);
  std::vector<Int128> least(units + 1, -1);
  least[0] = 0;
  const std::uint32_t apart = std::max(1U, units / kStarts);
  for (std::uint32_t start = 0; start < units; start += apart) {
    run.Restart(start * unit);
    for (std::uint32_t k = 1; start + k <= units && k <= longest; ++k) {
      for (std::uint32_t i = 0; i < unit; ++i) run.Grow();
      if (least[k] < 0 || run.leaving() < least[k]) least[k] = run.leaving();
    }
  }
  std::fill(least.begin() + longest + 1, least.end(), least[longest]);
  for (Int128& bytes : least) bytes *= units;
  return least;
}

// The most units that a domain below the home can take.
std::uint32_t LongestRun(const Tree& tree, std::uint32_t unit, std::uint32_t units) {
  std::uint64_t most = 1;
  for (DomainIndex d = 0; d < tree.domains(1).size(); ++d) {
    most = std::max(most, tree.SlotsIn(1, d) / unit);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, units));
}

// The corners of the lower convex hull of (k, cost[k]).
std::vector<std::uint32_t> HullOf(std::span<const std::int64_t> cost) {
  std::vector<std::uint32_t> hull = {0};
  for (std::uint32_t k = 1; k < cost.size(); ++k) {
    while (hull.size() > 1) {
      const std::uint32_t a = hull[hull.size() - 2], b = hull.back();
      const Int128 over = static_cast<Int128>(cost[b] - cost[a]) * (k - a) -
                          static_cast<Int128>(cost[k] - cost[a]) * (b - a);
      if (over < 0) break;
      hull.pop_back();
    }
    hull.push_back(k);
  }
  return hull;
}

// Where `cost` plus the price of a child with k units is less than what is known, takes it.
WEFT_LANES void AddOption(const std::int64_t* __restrict cost, std::int64_t price, std::int64_t k,
                          std::int64_t* __restrict next, std::int64_t* __restrict given,
                          std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t sum = cost[i] + price;
    const bool less = sum < next[i];
    next[i] = less ? sum : next[i];
    given[i] = less ? k : given[i];
  }
}

// Numbers of units to try for a domain: those after which one more costs more. If they are many:
// some of them, and the corners of the hull.
std::vector<std::uint32_t> OptionsOf(std::span<const std::int64_t> cost, std::uint32_t wanted) {
  const auto last = static_cast<std::uint32_t>(cost.size()) - 1;
  std::vector<std::uint32_t> options;
  for (std::uint32_t k = 1; k <= last; ++k) {
    if (k == last || cost[k + 1] > cost[k]) options.push_back(k);
  }
  const std::size_t most =
      std::clamp(kMostSums / std::max(1U, wanted), kFewestOptions, kMostOptions);
  if (options.size() <= most) return options;
  const std::size_t apart = options.size() / most + 1;
  std::vector<std::uint32_t> fewer = HullOf(cost);
  fewer.erase(fewer.begin());
  for (std::size_t i = apart - 1; i < options.size(); i += apart) fewer.push_back(options[i]);
  std::sort(fewer.begin(), fewer.end());
  fewer.erase(std::unique(fewer.begin(), fewer.end()), fewer.end());
  return fewer;
}

}  // namespace

RunPrices::RunPrices(const traffic::WorkerGraph& graph, const Tree& tree,
                     std::span<const std::uint32_t> walk, std::uint32_t unit, Kind kind)
    : units_(static_cast<std::uint32_t>(walk.size()) / unit), prices_(tree.node_tier() + 1) {
  const std::vector<Int128> leaving =
      kind == Kind::kMean ? LeavingRuns(graph, walk, unit, units_)
                          : LeavingLeast(graph, walk, unit, units_, LongestRun(tree, unit, units_));
  const Int128 most_bytes = *std::max_element(leaving.begin(), leaving.end());
  std::int64_t most_step = 1;
  for (Tier t = 1; t <= tree.node_tier(); ++t) most_step = std::max(most_step, tree.step(t));
  int byte_shift = 0;
  for (; most_bytes >> byte_shift > (Int128{1} << 62);) ++byte_shift;
  const Int128 most = (most_bytes >> byte_shift) * most_step;
  int shift = 0;
  for (; most >> shift >= (Int128{1} << kPriceBits);) ++shift;
  for (Tier t = 0; t <= tree.node_tier(); ++t) {
    for (const Int128 bytes : leaving) {
      prices_[t].push_back(
          static_cast<std::int64_t>(((bytes >> byte_shift) * tree.step(t)) >> shift));
    }
  }
}

Knapsack::Knapsack(const Tree& tree, const RunPrices& prices, Tier bin_tier,
                   std::span<const std::uint32_t> rooms)
    : tree_(tree), prices_(prices), bin_tier_(bin_tier), rooms_(rooms) {}

std::vector<Knapsack::Share> Knapsack::Choose(Tier home, DomainIndex domain, std::uint32_t units) {
  wanted_ = units;
  const Table table = Solve(home, domain, true);
  std::vector<Share> shares;
  Collect(table, std::min<std::uint32_t>(units, static_cast<std::uint32_t>(table.cost.size()) - 1),
          shares);
  return shares;
}

Knapsack::Table Knapsack::Solve(Tier tier, DomainIndex domain, bool is_home) {
  Table table{.tier = tier, .domain = domain, .cost = {0}, .children = {}, .sum = {}, .given = {}};
  if (tier == bin_tier_) {
    table.cost.resize(std::min(rooms_[domain], wanted_) + 1, 0);
  } else if (tier + 1 == bin_tier_) {
    FillBins(table);
  } else {
    const auto& begin = tree_.domains(tier).child_begin;
    for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
      Table child = Solve(tier + 1, c, false);
      if (child.cost.size() > 1) table.children.push_back(std::move(child));
    }
    KeepRoomiest(table.children);
    Combine(table);
  }
  if (is_home) return table;
  for (std::uint32_t k = 1; k < table.cost.size(); ++k) {
    table.cost[k] += prices_.Of(tier, k);
  }
  return table;
}

void Knapsack::KeepRoomiest(std::vector<Table>& children) const {
  if (children.size() <= kMostChildren) return;
  std::stable_sort(children.begin(), children.end(), [](const Table& a, const Table& b) {
    return a.cost.size() != b.cost.size() ? a.cost.size() > b.cost.size()
                                          : a.cost.back() < b.cost.back();
  });
  std::uint64_t room = 0;
  std::size_t kept = 0;
  for (; kept < children.size() && (kept < kMostChildren || room < 2 * std::uint64_t{wanted_});
       ++kept) {
    room += children[kept].cost.size() - 1;
  }
  children.erase(children.begin() + static_cast<std::ptrdiff_t>(kept), children.end());
  std::sort(children.begin(), children.end(),
            [](const Table& a, const Table& b) { return a.domain < b.domain; });
}

// The bins, roomiest first; among equals those in use already, then by index.
std::vector<DomainIndex> Knapsack::BinsByRoom(const Table& table) const {
  const auto& begin = tree_.domains(table.tier).child_begin;
  std::vector<DomainIndex> bins;
  for (DomainIndex c = begin[table.domain]; c < begin[table.domain + 1]; ++c) {
    if (rooms_[c] > 0) bins.push_back(c);
  }
  std::stable_sort(bins.begin(), bins.end(), [&](DomainIndex a, DomainIndex b) {
    if (rooms_[a] != rooms_[b]) return rooms_[a] > rooms_[b];
    return tree_.wholly_free(bin_tier_, a) < tree_.wholly_free(bin_tier_, b);
  });
  return bins;
}

void Knapsack::FillBins(Table& table) {
  const auto& begin = tree_.domains(table.tier).child_begin;
  std::vector<std::uint32_t> rooms;
  for (DomainIndex c = begin[table.domain]; c < begin[table.domain + 1]; ++c) {
    if (rooms_[c] > 0) rooms.push_back(std::min(rooms_[c], wanted_));
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  std::int64_t full = 0;
  for (std::uint32_t room : rooms) {
    for (std::uint32_t k = 1; k <= room && table.cost.size() <= wanted_; ++k) {
      table.cost.push_back(full + prices_.Of(bin_tier_, k));
    }
    full += prices_.Of(bin_tier_, room);
  }
}

void Knapsack::Combine(Table& table) {
  std::vector<std::int64_t> cost = {0};
  for (const Table& child : table.children) {
    // The child is added to sums that lack units. Where it brings too many, the excess is removed
    // later.
    const std::size_t lacking = std::min<std::size_t>(wanted_, cost.size());
    const std::size_t size = std::max(cost.size(), lacking + child.cost.size() - 1);
    std::vector<std::int64_t> next(size, kNever);
    std::vector<std::int64_t> given(size, 0);
    std::copy(cost.begin(), cost.end(), next.begin());
    for (const std::uint32_t k : OptionsOf(child.cost, wanted_)) {
      AddOption(cost.data(), child.cost[k], k, next.data() + k, given.data() + k, lacking);
    }
    cost = std::move(next);
    table.given.push_back(std::move(given));
  }
  // If more than k units cost less than k, k uses that choice; the excess is removed later.
  table.cost = std::move(cost);
  table.sum.resize(table.cost.size());
  for (std::size_t k = table.cost.size(); k-- > 0;) {
    const bool more = k > 0 && k + 1 < table.cost.size() && table.cost[k + 1] < table.cost[k];
    table.sum[k] = more ? table.sum[k + 1] : static_cast<std::uint32_t>(k);
    if (more) table.cost[k] = table.cost[k + 1];
  }
  table.cost.resize(std::min<std::size_t>(table.cost.size(), wanted_ + 1));
}

void Knapsack::CollectBins(const Table& table, std::uint32_t units,
                           std::vector<Share>& shares) const {
  const std::vector<DomainIndex> bins = BinsByRoom(table);
  const std::size_t from = shares.size();
  for (std::size_t i = 0; i < bins.size() && units > 0; ++i) {
    std::size_t at = i;  // the first of the tightest bins that hold all units, else the roomiest
    for (std::size_t next = i + 1; next < bins.size() && rooms_[bins[next]] >= units; ++next) {
      if (rooms_[bins[next]] < rooms_[bins[at]]) at = next;
    }
    const std::uint32_t taken = std::min(units, rooms_[bins[at]]);
    shares.push_back({bins[at], taken});
    units -= taken;
  }
  std::sort(shares.begin() + static_cast<std::ptrdiff_t>(from), shares.end(),
            [](const Share& a, const Share& b) { return a.bin < b.bin; });
}

void Knapsack::Collect(const Table& table, std::uint32_t units, std::vector<Share>& shares) const {
  if (units == 0) return;
  if (table.tier == bin_tier_) return shares.push_back({table.domain, units});
  if (table.children.empty()) return CollectBins(table, units, shares);
  std::vector<std::uint32_t> taken(table.children.size(), 0);
  const std::uint32_t sum = table.sum[units];
  std::uint32_t left = sum;
  for (std::size_t c = table.children.size(); c-- > 0;) {
    taken[c] = left < table.given[c].size() ? static_cast<std::uint32_t>(table.given[c][left]) : 0;
    left -= taken[c];
  }
  for (std::uint32_t excess = sum - units; excess > 0;) {  // from the child that takes least
    std::size_t least = table.children.size();
    for (std::size_t c = 0; c < taken.size(); ++c) {
      if (taken[c] > 0 && (least == taken.size() || taken[c] < taken[least])) least = c;
    }
    const std::uint32_t less = std::min(excess, taken[least]);
    taken[least] -= less;
    excess -= less;
  }
  for (std::size_t c = 0; c < taken.size(); ++c) Collect(table.children[c], taken[c], shares);
}

}  // namespace weft::placement
