#include "operator/placement/bound.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace weft::placement {

using fabric::DomainIndex;
using fabric::Tier;
using traffic::Neighbour;

namespace {

constexpr int kBisections = 64;
constexpr double kLevelWidth = 1e-6;  // the bound is that much below what the method could give
constexpr double kFirstStep = 64;     // downwards, until a level is below
constexpr int kFirstSteps = 16;
// Room for rounding in the numeric part: a bound must not creep above the truth.
constexpr double kSafety = 1 - 1e-9;
// Set sizes looked at one by one; beyond, on a geometric grid.
constexpr std::uint64_t kEverySize = 32;
constexpr double kGridFactor = 1.06;

// Rooms of one tier's domains, largest first, as many as the job could need.
std::vector<std::uint64_t> Rooms(const Instance& instance, Tier tier) {
  const std::uint64_t workers = instance.workers();
  std::vector<std::uint64_t> rooms;
  const DomainIndex domains = instance.fabric().domains(tier).size();
  for (DomainIndex d = 0; d < domains; ++d) {
    const std::uint64_t room = std::min<std::uint64_t>(instance.SlotsIn(tier, d), workers);
    if (room == workers) return {workers};
    if (room > 0) rooms.push_back(room);
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  std::uint64_t sum = 0;
  std::size_t needed = 0;
  while (needed < rooms.size() && sum < workers) sum += rooms[needed++];
  rooms.resize(needed);
  return rooms;
}

// Bytes that must cross because a worker keeps only its heaviest neighbours.
Int128 CutByDegree(const Instance& instance, std::uint64_t room) {
  Int128 twice = 0;
  std::vector<std::int64_t> bytes;
  for (std::uint32_t w = 0; w < instance.workers(); ++w) {
    const auto neighbours = instance.graph().neighbours(w);
    if (neighbours.size() < room) continue;
    bytes.clear();
    for (const Neighbour& neighbour : neighbours) bytes.push_back(neighbour.bytes);
    const auto keep = static_cast<std::ptrdiff_t>(room - 1);
    std::nth_element(bytes.begin(), bytes.begin() + keep, bytes.end(), std::greater<>());
    for (std::size_t i = static_cast<std::size_t>(keep); i < bytes.size(); ++i) twice += bytes[i];
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
// wherever no limit holds; the level is found by halving, from below, so that rounding never lifts
// the bound.
double LeastLines(std::span<const GridAxis> axes, double s) {
  double wanted = 1, low = 0, high = 1;
  for (std::size_t i = 1; i < axes.size(); ++i) wanted *= s;
  const double most = std::max(1.0, s);
  // Lines touched where the level stands at `level`, and what they cost.
  const auto fill = [&](double level, double& sum) {
    double product = 1;
    sum = 0;
    for (const GridAxis& axis : axes) {
      const double least = std::max(1.0, s / axis.size);
      const double touched =
          axis.price() > 0 ? std::clamp(level / axis.price(), least, most) : most;
      product *= touched;
      sum += axis.price() * touched;
    }
    return product;
  };
  double sum = 0;
  if (fill(0, sum) >= wanted) return sum;
  for (const GridAxis& axis : axes) high = std::max(high, axis.price() * s);
  for (int i = 0; i < kBisections && high - low > low * kLevelWidth; ++i) {
    const double middle = low > 0 ? std::sqrt(low * high) : high / kFirstStep;
    if (fill(middle, sum) >= wanted) {
      high = middle;
    } else {
      low = middle;
    }
    if (low == 0 && i > kFirstSteps) break;
  }
  fill(low, sum);
  return sum * kSafety;
}

// Bytes on lines that may be whole, at most, in a set of s workers.
double WholeLines(std::span<const GridAxis> axes, std::uint64_t s) {
  double sum = 0;
  for (const GridAxis& axis : axes) {
    const std::uint64_t whole = s / axis.size;
    sum += axis.bytes * axis.cuts * static_cast<double>(whole);
  }
  return sum;
}

// Least traffic between neighbours on the lines of one digit; wrap tells whether lines are rings.
GridAxis Measure(const traffic::WorkerGraph& graph, std::uint32_t stride, std::uint32_t size) {
  GridAxis axis{.size = size, .bytes = 0, .cuts = 1};
  std::int64_t along = Bytes::kMax, around = Bytes::kMax;
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    for (const Neighbour& neighbour : graph.neighbours(a)) {
      if (neighbour.worker == b) return neighbour.bytes;
    }
    return std::int64_t{0};
  };
  for (std::uint32_t w = 0; w < graph.workers() && along > 0; ++w) {
    const bool last = w / stride % size == size - 1;
    std::int64_t& least = last ? around : along;
    const std::uint32_t next = last ? w - (size - 1) * stride : w + stride;
    if (size > 2 || !last) least = std::min(least, between(w, next));
  }
  axis.bytes = static_cast<double>(along);
  if (size > 2 && around > 0) {
    axis.bytes = static_cast<double>(std::min(along, around));
    axis.cuts = 2;
  }
  return axis;
}

// Bytes that must cross between domains of one tier.
Int128 LeastCut(const Instance& instance, Tier tier, const LeastSurface& least) {
  const std::vector<std::uint64_t> rooms = Rooms(instance, tier);
  if (rooms.empty() || rooms.front() >= instance.workers()) return 0;
  const Int128 by_degree = CutByDegree(instance, rooms.front());
  double surface = 0;
  std::uint64_t left = instance.workers();
  for (std::uint64_t room : rooms) {
    const std::uint64_t taken = std::min(left, room);
    surface += least.At(room) * static_cast<double>(taken);
    left -= taken;
  }
  const auto by_surface = static_cast<Int128>(surface / 2);
  return std::max(by_degree, by_surface) + CutByCliques(instance, rooms.front());
}

}  // namespace

LeastSurface::LeastSurface(std::span<const GridAxis> axes, std::uint64_t most) {
  if (axes.empty()) return;
  for (std::uint64_t low = 1; low <= most;) {
    const auto grown = static_cast<std::uint64_t>(static_cast<double>(low) * kGridFactor);
    const std::uint64_t high = low <= kEverySize ? low : std::min(most, grown);
    const double lines = LeastLines(axes, static_cast<double>(low));
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
  std::vector<GridAxis> axes;
  while (true) {
    axes.clear();
    std::uint32_t stride = 1;
    for (std::uint32_t size : grid) {
      axes.push_back(Measure(instance.graph(), stride, size));
      stride *= size;
    }
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
