#include "operator/placement/bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "operator/base/check.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::Tier;
using traffic::Neighbour;

namespace {

// Room for rounding in the numeric part: a bound must not creep above the truth.
constexpr double kSafety = 1 - 1e-9;
// Set sizes looked at one by one; beyond, on a geometric grid.
constexpr std::uint64_t kEverySize = 32;
constexpr std::size_t kMostAxes = 8;  // digits of a grid: the axes of parallelism
constexpr double kGridFactor = 1.06;

// How many domains of the tier have room for so many workers, by room; rooms for more than the
// whole job count as room for it.
std::vector<std::uint32_t> DomainsByRoom(const Instance& instance, Tier tier) {
  const std::uint64_t workers = instance.workers();
  std::vector<std::uint32_t> domains(workers + 1, 0);
  for (DomainIndex d = 0; d < instance.fabric().domains(tier).size(); ++d) {
    ++domains[std::min<std::uint64_t>(instance.SlotsIn(tier, d), workers)];
  }
  return domains;
}

// Bytes that must cross because a worker keeps only its heaviest neighbours.
Int128 CutByDegree(const Instance& instance, std::uint64_t room) {
  Int128 twice = 0, crossing = 0;
  std::vector<std::int64_t> heaviest(room - 1);  // descending
  std::span<const Neighbour> before;
  for (std::uint32_t w = 0; w < instance.workers(); ++w) {
    const auto neighbours = instance.graph().neighbours(w);
    if (neighbours.size() < room) continue;
    // Workers that follow each other mostly send alike.
    const bool alike =
        std::equal(neighbours.begin(), neighbours.end(), before.begin(), before.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.bytes == b.bytes; });
    before = neighbours;
    if (alike) {
      twice += crossing;
      continue;
    }
    crossing = 0;
    std::fill(heaviest.begin(), heaviest.end(), 0);
    for (const Neighbour& neighbour : neighbours) {
      std::int64_t bytes = neighbour.bytes;
      for (std::int64_t& kept : heaviest) {  // without branches: what falls out crosses
        const std::int64_t more = std::max(kept, bytes);
        bytes = std::min(kept, bytes);
        kept = more;
      }
      crossing += bytes;
    }
    twice += crossing;
  }
  return (twice + 1) / 2;
}

// Pairs of a clique that end up apart when its parts are as large as the rooms allow. Members may
// hold different numbers of ranks: with at most `most` ranks a member, a room of K workers holds
// at most K * most of them.
Int128 CutByCliques(const Instance& instance, std::uint64_t room) {
  Int128 sum = 0;
  for (const traffic::Clique& clique : instance.graph().cliques()) {
    Int128 all = 0, own = 0;
    std::uint32_t most = 0;
    for (const auto& member : clique.members) {
      all += member.ranks;
      own += static_cast<Int128>(member.ranks) * member.ranks;
      most = std::max(most, member.ranks);
    }
    const Int128 part = std::min<Int128>(all, static_cast<Int128>(room) * most);
    if (part == 0) continue;
    Int128 together = all / part * part * part + all % part * (all % part);
    together = std::max(together, own);
    sum += (all * all - together) / 2 * clique.bytes_per_rank_pair;
  }
  return sum;
}

// Lines that s workers must touch, cheapest way: least sum of price_i * p_i with
// product(p_i) >= s^(k-1) and s / n_i <= p_i <= s. Water-filling: price_i * p_i is one level
// wherever no limit holds. The limits part the levels into ranges; within one, the product is a
// constant times a power of the level.
class Lines {
 public:
  Lines(std::span<const GridAxis> axes, double s) {
    WEFT_CHECK(axes.size() <= kMostAxes);
    const double most = std::max(1.0, s);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i > 0) wanted_ *= s;
      if (axes[i].price() <= 0) {
        unpriced_ *= most;
        continue;
      }
      limits_[count_] = {axes[i].price(), std::max(1.0, s / axes[i].size), most};
      levels_[2 * count_] = limits_[count_].price * limits_[count_].least;
      levels_[2 * count_ + 1] = limits_[count_].price * most;
      ++count_;
    }
    std::sort(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(2 * count_));
  }

  double Least() const {
    double sum = 0, low = 0;
    for (std::size_t i = 0; i < 2 * count_; ++i) {
      const double product = Fill(levels_[i], sum);
      if (product >= wanted_) {
        if (i > 0) Fill(LevelBetween(low, levels_[i], product), sum);
        break;
      }
      low = levels_[i];
    }
    return sum * kSafety;
  }

 private:
  struct Limits {
    double price, least, most;
  };

  // The product of lines touched where the level stands at `level`; `sum`: what they cost.
  double Fill(double level, double& sum) const {
    double product = unpriced_;
    sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const double touched =
          std::clamp(level / limits_[i].price, limits_[i].least, limits_[i].most);
      product *= touched;
      sum += limits_[i].price * touched;
    }
    return product;
  }

  // Where the product is as wanted, in a range at whose high end it is `product`.
  double LevelBetween(double low, double high, double product) const {
    int rising = 0;  // axes whose lines grow with the level in this range
    for (std::size_t i = 0; i < count_; ++i) {
      const Limits& axis = limits_[i];
      if (axis.price * axis.least <= low && axis.price * axis.most >= high) ++rising;
    }
    if (rising == 0) return high;
    return std::clamp(high * std::pow(wanted_ / product, 1.0 / rising), low, high);
  }

  std::array<Limits, kMostAxes> limits_{};
  std::array<double, 2 * kMostAxes> levels_{};
  std::size_t count_ = 0;
  double wanted_ = 1, unpriced_ = 1;
};

// Bytes on lines that may be whole, at most, in a set of s workers.
double WholeLines(std::span<const GridAxis> axes, std::uint64_t s) {
  double sum = 0;
  for (const GridAxis& axis : axes) {
    const std::uint64_t whole = s / axis.size;
    sum += axis.bytes * axis.cuts * static_cast<double>(whole);
  }
  return sum;
}

// The lines of one digit of the grid: least traffic between neighbours, and how many pairs of them
// have any. `around` joins the ends of a line of 3 or more, which makes it a ring.
struct Line {
  std::uint32_t stride, size, to_end;  // to_end: between the workers at the ends; 0 without a ring
  std::int64_t along = Bytes::kMax, around = Bytes::kMax;
  std::uint32_t pairs_along = 0, pairs_around = 0;

  std::uint32_t Digit(std::uint32_t worker) const { return worker / stride % size; }

  void Add(const traffic::Edge& edge) {
    const std::uint32_t apart = edge.b - edge.a;
    if (apart == stride && Digit(edge.a) + 1 < size) {
      along = std::min(along, edge.bytes);
      ++pairs_along;
    } else if (apart == to_end && Digit(edge.a) == 0) {
      around = std::min(around, edge.bytes);
      ++pairs_around;
    }
  }

  GridAxis Axis(std::uint32_t workers) const {
    const std::uint32_t lines = workers / size;
    if (pairs_along < lines * (size - 1)) return {.size = size, .bytes = 0, .cuts = 1};
    const bool ring = to_end > 0 && pairs_around == lines;
    return {.size = size,
            .bytes = static_cast<double>(ring ? std::min(along, around) : along),
            .cuts = ring ? 2.0 : 1.0};
  }
};

std::vector<GridAxis> Measure(const traffic::WorkerGraph& graph,
                              std::span<const std::uint32_t> grid) {
  std::vector<Line> lines;
  std::uint32_t stride = 1;
  for (const std::uint32_t size : grid) {
    lines.push_back({.stride = stride, .size = size, .to_end = size > 2 ? (size - 1) * stride : 0});
    stride *= size;
  }
  for (const traffic::Edge& edge : graph.edges()) {
    for (Line& line : lines) line.Add(edge);
  }
  std::vector<GridAxis> axes;
  for (const Line& line : lines) axes.push_back(line.Axis(graph.workers()));
  return axes;
}

// Bytes that must cross between domains of one tier.
Int128 LeastCut(const Instance& instance, Tier tier, const LeastSurface& least) {
  const std::vector<std::uint32_t> domains = DomainsByRoom(instance, tier);
  std::uint64_t largest = instance.workers();
  while (largest > 0 && domains[largest] == 0) --largest;
  if (largest == 0 || largest == instance.workers()) return 0;
  double surface = 0;
  std::uint64_t left = instance.workers();
  for (std::uint64_t room = largest; room > 0 && left > 0; --room) {
    if (domains[room] == 0) continue;
    const std::uint64_t taken = std::min(left, room * domains[room]);
    surface += least.At(room) * static_cast<double>(taken);
    left -= taken;
  }
  const auto by_surface = static_cast<Int128>(surface / 2);
  return std::max(CutByDegree(instance, largest), by_surface) + CutByCliques(instance, largest);
}

}  // namespace

LeastSurface::LeastSurface(std::span<const GridAxis> axes, std::uint64_t most) {
  if (axes.empty()) return;
  for (std::uint64_t low = 1; low <= most;) {
    const auto grown = static_cast<std::uint64_t>(static_cast<double>(low) * kGridFactor);
    const std::uint64_t high = low <= kEverySize ? low : std::min(most, grown);
    const double lines = Lines(axes, static_cast<double>(low)).Least();
    const double each = std::max(0.0, (lines - WholeLines(axes, high)) / static_cast<double>(high));
    steps_.push_back({high, steps_.empty() ? each : std::min(each, steps_.back().least)});
    low = high + 1;
  }
}

double LeastSurface::At(std::uint64_t room) const {
  const auto step = std::partition_point(steps_.begin(), steps_.end(),
                                         [&](const Step& s) { return s.end < room; });
  return step == steps_.end() ? 0 : step->least;
}

std::vector<GridAxis> GridAxes(const Instance& instance) {
  std::vector<std::uint32_t> grid = instance.request().grid;
  if (grid.empty() && instance.workers() > 1) grid = {instance.workers()};
  while (true) {
    std::vector<GridAxis> axes = Measure(instance.graph(), grid);
    const auto silent = std::find_if(axes.begin(), axes.end(),
                                     [](const GridAxis& axis) { return axis.bytes == 0; });
    if (silent == axes.end() || grid.size() <= 1) return axes;
    const auto at = static_cast<std::size_t>(silent - axes.begin());
    const std::size_t into = at > 0 ? at - 1 : 1;
    grid[into] *= grid[at];
    grid.erase(grid.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

Int128 LowerBound(const Instance& instance) {
  const PairCost& pair_cost = instance.pair_cost();
  const LeastSurface least(GridAxes(instance), instance.workers());
  Int128 bound = 0;
  std::int64_t narrower = 0;
  for (Tier t = instance.node_tier(); t >= 1; --t) {
    const std::int64_t wider = pair_cost.LeastWeight(t - 1);
    if (wider > narrower) bound += LeastCut(instance, t, least) * (wider - narrower);
    narrower = std::max(narrower, wider);
  }
  return bound;
}

}  // namespace weft::placement
