#include "operator/placement/bound.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "operator/placement/nest.h"
#include "operator/placement/surface.h"
#include "operator/placement/tree.h"
#include "operator/placement/units.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Neighbour;
using Rooms = std::vector<LeastSurface::Room>;  // descending

namespace {

// Homes looked at one by one; with more of them, all their rooms count together.
constexpr std::size_t kMostHomes = 16;
// Units above this size are left out: measuring one takes the cube of its size in steps.
constexpr std::uint64_t kLargestUnit = 64;
// Entries of a table of costs by number of workers: more are counted in blocks.
constexpr std::uint64_t kMostCounts = 1024;

Nest TreeOf(const Instance& instance) {
  Nest nest;
  std::int64_t narrower = 0;
  for (Tier t = instance.node_tier(); t >= 1; --t) {
    const std::int64_t wider = instance.pair_cost().LeastWeight(t - 1);
    const auto& domains = instance.fabric().domains(t);
    if (wider > narrower) {
      nest.push_back({t, wider - narrower, t == instance.node_tier() ? nullptr : &domains.of_node,
                      domains.size()});
    }
    narrower = std::max(narrower, wider);
  }
  return nest;
}

// Bytes that must cross because a worker keeps only its heaviest neighbours.
Int128 CutByDegree(const Instance& instance, std::uint64_t room) {
  Int128 twice = 0, crossing = 0;
  std::vector<std::int64_t> heaviest(room - 1);  // descending
  std::span<const Neighbour> before;
  for (std::uint32_t w = 0; w < instance.workers(); ++w) {
    const auto neighbours = instance.graph().neighbours(w);
    if (neighbours.size() < room) continue;
    // Consecutive workers usually have equal byte lists; reuse the last result.
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

// The surfaces of one grid, its chains taken as chains and as rings.
struct Surfaces {
  Surfaces(std::span<const traffic::Edge> edges, std::span<const std::uint32_t> grid,
           std::uint64_t vertices)
      : axes(MeasureAxes(edges, grid)),
        chains(axes, vertices, false),
        rings(axes, vertices, true) {}

  // Bytes between sets of the rooms' sizes.
  double Least(std::span<const LeastSurface::Room> rooms, std::uint64_t vertices) const {
    const double twice =
        std::max(chains.Sum(rooms, vertices), rings.Sum(rooms, vertices) - rings.phantom());
    return std::max(0.0, twice) / 2;
  }

  // What that many vertices, each a unit of `unit` workers, cost at least over all levels of the
  // nest: by their number, or the number of blocks of so many of them.
  std::vector<double> LeastOver(const Instance& instance, std::span<const Level> nest, Run run,
                                std::uint64_t vertices, std::uint32_t unit,
                                std::uint32_t block) const {
    double all_steps = 0;
    for (const Level& level : nest) all_steps += static_cast<double>(level.step);
    const Grain grain{unit * block, block == 1};
    const std::uint64_t entries = (vertices + block - 1) / block;
    std::vector<double> best;
    for (const LeastSurface* surface : {&chains, &rings}) {
      if (surface == &rings && rings.phantom() == 0 && !best.empty()) continue;  // all rings anyway
      std::vector<double> leaving(entries + 1, 0);
      for (std::uint64_t s = 1; s < vertices; ++s) {
        double& least = leaving[(s + block - 1) / block];
        least = s % block == 1 || block == 1 ? surface->Of(s) : std::min(least, surface->Of(s));
      }
      if (block > 1) leaving.back() = 0;  // all of them may be in one domain
      std::vector<double> least =
          LeastOverNest(instance, nest, run, grain, leaving, instance.limits().bound_steps);
      const double phantom = surface == &rings ? rings.phantom() / 2 * all_steps : 0;
      best.resize(std::max(best.size(), least.size()), 0);
      for (std::size_t k = 0; k < least.size(); ++k) {
        best[k] = std::max(best[k], least[k] - phantom);
      }
    }
    return best;
  }

  std::vector<GridAxis> axes;
  LeastSurface chains, rings;
};

// Units of one tile, measured.
struct Unit {
  Unit(const Instance& instance, std::span<const std::uint32_t> tile)
      : units(MakeUnits(instance.grid().sizes(), tile, instance.workers())),
        traffic(MeasureUnits(instance.graph(), units)),
        surfaces(traffic.between, units.grid, units.count()) {
    std::vector<double> bytes(units.count(), 0);
    for (const traffic::Edge& edge : traffic.between) {
      bytes[edge.a] += static_cast<double>(edge.bytes);
      bytes[edge.b] += static_cast<double>(edge.bytes);
    }
    most_bytes = *std::max_element(bytes.begin(), bytes.end());
  }

  Units units;
  UnitTraffic traffic;
  Surfaces surfaces;
  double most_bytes = 0;     // between one unit and all others
  std::optional<Tier> kept;  // units must stand whole in domains of this tier
};

// The tile whose units are exactly the sets; empty where there is none.
Shape TileOf(const Instance& instance, const traffic::WorkerSets& sets) {
  const auto sizes = instance.grid().sizes();
  if (sets.size() < 2 || sets.workers.size() != instance.workers()) return {};
  Shape tile;
  std::uint32_t stride = 1;
  for (const std::uint32_t size : sizes) {
    std::uint32_t least = size, most = 0;
    for (const std::uint32_t worker : sets.set(0)) {
      least = std::min(least, worker / stride % size);
      most = std::max(most, worker / stride % size);
    }
    tile.push_back(most - least + 1);
    if (size % tile.back() != 0) return {};
    stride *= size;
  }
  const Units units = MakeUnits(sizes, tile, instance.workers());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (sets.set(s).size() != units.size) return {};
    for (const std::uint32_t worker : sets.set(s)) {
      if (units.of[worker] != units.of[sets.set(s).front()]) return {};
    }
  }
  return tile;
}

class Bound {
 public:
  Bound(const Instance& instance, const Preferences& reached)
      : instance_(instance),
        workers_(TrafficBetween(instance.graph(), Singles(instance), instance.workers()),
                 instance.grid().sizes(), instance.workers()) {
    for (const Shape& tile : instance.grid().NaturalTiles()) units_.emplace_back(instance, tile);
    for (const GroupConstraint& group : instance.request().groups) {
      std::optional<Tier> kept = group.required;
      if (group.preferred && reached[kGroupsMissed] == 0) kept = group.preferred;
      if (!kept) continue;
      const Shape tile = TileOf(instance, group.sets);
      if (tile.empty() || Volume(tile) > kLargestUnit) continue;
      units_.emplace_back(instance, tile);
      units_.back().kept = kept;
    }
  }

  double Of(const Nest& nest, Run run) const {
    std::vector<double> plain;  // by level
    double sum = 0;
    for (const Level& level : nest) {
      plain.push_back(PlainCut(RoomsOf(level, level, run, 1)) * static_cast<double>(level.step));
      sum += plain.back();
    }
    double best = sum, narrower = 0;
    for (std::size_t at = 0; at < nest.size(); ++at) {
      best = std::max(best, narrower + PlainOver(std::span(nest).subspan(at), run));
      for (const Unit& unit : units_) {
        best = std::max(best, narrower + WithUnits(unit, std::span(nest).subspan(at), run));
      }
      narrower += plain[at];
    }
    return best;
  }

 private:
  static std::vector<std::uint32_t> Singles(const Instance& instance) {
    std::vector<std::uint32_t> of(instance.workers());
    std::iota(of.begin(), of.end(), 0U);
    return of;
  }

  Rooms RoomsOf(const Level& whole_at, const Level& level, Run run, std::uint32_t unit) const;
  double PlainCut(const Rooms& rooms) const;
  double PlainOver(std::span<const Level> nest, Run run) const;
  double Broken(const Unit& unit, const Rooms& slots, std::uint64_t broken) const;
  double WithUnits(const Unit& unit, std::span<const Level> nest, Run run) const;

  const Instance& instance_;
  Surfaces workers_;
  std::vector<Unit> units_;
};

// How many units fit in each domain of `level`, where each stands whole in one domain of
// `whole_at`, which nests in it.
Rooms Bound::RoomsOf(const Level& whole_at, const Level& level, Run run, std::uint32_t unit) const {
  const std::uint64_t most = instance_.workers() / unit;
  std::vector<std::uint64_t> slots(whole_at.domains, 0), room(level.domains, 0);
  std::vector<DomainIndex> above(whole_at.domains, 0);
  for (NodeIndex n = run.begin; n < run.end; ++n) {
    slots[whole_at.Of(n)] += instance_.slots()[n];
    above[whole_at.Of(n)] = level.Of(n);
  }
  for (DomainIndex d = 0; d < whole_at.domains; ++d) room[above[d]] += slots[d] / unit;
  std::vector<std::uint64_t> domains(most + 1, 0);
  for (std::uint64_t units : room) ++domains[std::min(units, most)];
  Rooms rooms;
  for (std::uint64_t size = most; size > 0; --size) {
    if (domains[size] > 0) rooms.push_back({size, domains[size]});
  }
  return rooms;
}

double Bound::PlainCut(const Rooms& rooms) const {
  if (rooms.empty() || rooms.front().size == instance_.workers()) return 0;
  const std::uint64_t largest = rooms.front().size;
  const auto by_degree =
      static_cast<double>(CutByDegree(instance_, largest) + CutByCliques(instance_, largest));
  return std::max(by_degree, workers_.Least(rooms, instance_.workers()));
}

// All levels at once, workers one by one. Nodes are left to PlainCut: there are too many.
double Bound::PlainOver(std::span<const Level> nest, Run run) const {
  if (nest.size() < 2 || nest.front().of_node == nullptr) return 0;
  const std::uint64_t workers = instance_.workers();
  const auto block = static_cast<std::uint32_t>((workers + kMostCounts - 1) / kMostCounts);
  const std::vector<double> least = workers_.LeastOver(instance_, nest, run, workers, 1, block);
  return least.size() > (workers + block - 1) / block ? std::max(0.0, least.back()) : 0;
}

// Pairs of workers of one unit, both ways and each with itself, that at most stand together: in
// a domain of s slots floor(s / unit) whole units, and one part of the rest.
std::uint64_t TogetherByParts(std::uint64_t workers, std::uint64_t size, const Rooms& slots) {
  std::uint64_t whole = 0;
  std::vector<std::uint64_t> parts(size, 0);  // by size
  for (const LeastSurface::Room& room : slots) {
    whole += room.size / size * room.count;
    parts[room.size % size] += room.count;
  }
  const std::uint64_t fit = std::min(workers, whole * size);
  std::uint64_t left = workers - fit, together = fit * size;
  for (std::uint64_t part = size - 1; part > 0 && left > 0; --part) {
    const std::uint64_t taken = std::min(left, part * parts[part]);
    together += taken * part;
    left -= taken;
  }
  return together;
}

// The same by the largest part of each unit: one of p workers has at most floor(size / p) such
// parts and one of the rest together, and the rooms hold so many parts of p or more.
std::uint64_t TogetherByLargest(std::uint64_t workers, std::uint64_t size, const Rooms& slots,
                                std::uint64_t broken) {
  const std::uint64_t count = workers / size;
  std::uint64_t together = 0, before = 0;
  for (std::uint64_t p = 1; p <= size; ++p) {
    std::uint64_t fit = 0;
    for (const LeastSurface::Room& room : slots) fit += room.size / p * room.count;
    const std::uint64_t at_p = size / p * p * p + size % p * (size % p);
    together += (at_p - before) * std::min(fit, p == size ? count - broken : count);
    before = at_p;
  }
  return together;
}

// Bytes inside units that cross where so many of them are broken.
double Bound::Broken(const Unit& unit, const Rooms& slots, std::uint64_t broken) const {
  const double by_cut = static_cast<double>(broken) * static_cast<double>(unit.traffic.least_cut);
  if (unit.traffic.each_pair == 0) return by_cut;
  const std::uint64_t size = unit.units.size;
  const std::uint64_t all = std::uint64_t{instance_.workers()} * size;
  const std::uint64_t together =
      std::min({all, TogetherByParts(instance_.workers(), size, slots),
                TogetherByLargest(instance_.workers(), size, slots, broken)});
  return std::max(by_cut, static_cast<double>((all - together) / 2) *
                              static_cast<double>(unit.traffic.each_pair));
}

// The levels of `nest` with the units whole at its narrowest, or broken there.
double Bound::WithUnits(const Unit& unit, std::span<const Level> nest, Run run) const {
  const std::uint64_t count = unit.units.count();
  const Rooms slots = RoomsOf(nest.front(), nest.front(), run, 1);
  std::vector<Rooms> rooms;
  for (const Level& level : nest) {
    rooms.push_back(RoomsOf(nest.front(), level, run, unit.units.size));
  }
  std::uint64_t fit = 0;
  for (const LeastSurface::Room& room : rooms.front()) fit += room.size * room.count;
  const std::uint64_t least_broken = count - std::min(count, fit);
  const std::vector<double> over =
      unit.surfaces.LeastOver(instance_, nest, run, count, unit.units.size, 1);
  double steps = 0;
  for (const Level& level : nest) steps += static_cast<double>(level.step);
  // At least `low` and at most `high` units broken. What a whole unit sends to a broken one may
  // stay in the domain: it is taken off.
  const auto sum = [&](std::uint64_t low, std::uint64_t high) {
    const double cost = Broken(unit, slots, low) * static_cast<double>(nest.front().step);
    const double to_broken = static_cast<double>(high) * unit.most_bytes / 2;
    double by_level = 0;
    for (std::size_t i = 0; i < nest.size(); ++i) {
      const double between = unit.surfaces.Least(rooms[i], count - high) - to_broken;
      by_level += std::max(0.0, between) * static_cast<double>(nest[i].step);
    }
    double at_once = -1;
    for (std::uint64_t whole = count - high; whole <= count - low; ++whole) {
      if (whole >= over.size()) break;
      const double between = over[whole] - to_broken * steps;
      if (at_once < 0 || between < at_once) at_once = std::max(0.0, between);
    }
    return cost + std::max(by_level, at_once);
  };
  if (unit.kept && nest.front().tier <= *unit.kept) return least_broken == 0 ? sum(0, 0) : 0;
  double least = -1;
  std::uint64_t width = 1;
  for (std::uint64_t low = least_broken; low <= count; low += width) {
    if (low > least_broken + 1) width *= 2;
    const double cost = sum(low, std::min(count, low + width - 1));
    if (least < 0 || cost < least) least = cost;
  }
  return least;
}

// Runs of nodes that may hold the job; all nodes where there are many.
std::vector<Run> Homes(const Instance& instance, Tier home) {
  std::vector<Run> runs;
  const auto& begin = instance.fabric().domains(home).begin;
  for (DomainIndex d = 0; d + 1 < begin.size(); ++d) {
    if (instance.SlotsIn(home, d) < instance.workers()) continue;
    runs.push_back({begin[d], begin[d + 1]});
    if (runs.size() > kMostHomes) return {{0, instance.fabric().node_count()}};
  }
  return runs;
}

// Domains by node of a nest that is not the fabric's tree; the nest's levels point into them.
struct Crossing {
  std::vector<std::vector<DomainIndex>> of_node;
  Nest nest;
};

// The scale-up network's domains, where they cross the tree, and what of the tree is left when
// domains that they join count as one.
std::optional<Crossing> CrossingOf(const Instance& instance) {
  const auto scale_up = instance.fabric().crossing_scale_up();
  const Tier last = instance.node_tier();
  const std::int64_t inside = instance.pair_cost().LeastWeight(last - 1);
  const std::int64_t between = instance.pair_cost().TierWeight(last - 1);
  if (scale_up.empty() || between <= inside) return std::nullopt;
  Crossing crossing;
  crossing.of_node.emplace_back(scale_up.begin(), scale_up.end());
  for (Tier t = last - 1; t >= 1; --t) crossing.of_node.push_back(JoinedByScaleUp(instance, t));
  const NodeIndex nodes = instance.fabric().node_count();
  crossing.nest = {{last, inside, nullptr, nodes},
                   {last, between - inside, &crossing.of_node[0], nodes}};
  for (Tier t = last - 1; t >= 1; --t) {
    const std::int64_t step =
        instance.pair_cost().TierWeight(t - 1) - instance.pair_cost().TierWeight(t);
    if (step > 0) crossing.nest.push_back({t, step, &crossing.of_node[last - t], nodes});
  }
  return crossing;
}

}  // namespace

Int128 LowerBound(const Instance& instance, const Preferences& reached) {
  if (instance.workers() < 2) return 0;
  const Bound bound(instance, reached);
  const Nest tree = TreeOf(instance);
  const std::optional<Crossing> crossing = CrossingOf(instance);
  double least = -1;
  for (const Run& run : Homes(instance, HomeTier(instance.request(), reached))) {
    double cost = bound.Of(tree, run);
    if (crossing) cost = std::max(cost, bound.Of(crossing->nest, run));
    if (least < 0 || cost < least) least = cost;
  }
  // A double holds 53 bits: keep the rounding of the sums on the safe side.
  constexpr double kSafety = 1 - 1e-9;
  return static_cast<Int128>(std::max(0.0, least) * kSafety);
}

}  // namespace weft::placement
