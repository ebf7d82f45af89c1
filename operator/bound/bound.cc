#include "operator/bound/bound.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/bound/hop_bound.h"
#include "operator/bound/part_prices.h"
#include "operator/bound/safety.h"
#include "operator/bound/surface.h"
#include "operator/objective/units.h"
#include "operator/traffic/worker_sets.h"

namespace weft::bound {

using fabric::NodeIndex;
using fabric::Tier;
using objective::Instance;
using objective::Preferences;
using objective::Shape;
using objective::UnitIndex;
using traffic::Neighbour;

namespace {

// Parts of larger units, and rooms for larger parts, get no prices: a round would cost too much.
constexpr std::uint64_t kLargestUnit = 512, kLargestRoom = 1024;
constexpr std::uint64_t kFewestRounds = 8;  // of prices; with fewer, none is made

// Bytes that must cross because a worker keeps only its heaviest neighbours.
Int128 CutByDegree(const Instance& instance, std::uint64_t room) {
  WEFT_CHECK(room > 0 && room < instance.workers());
  Int128 twice = 0, crossing = 0;
  std::vector<std::int64_t> heaviest(room - 1);  // descending
  std::span<const Neighbour> before;
  for (const WorkerIndex w : Range<WorkerIndex>(instance.workers())) {
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
// hold different numbers of ranks: with at most `most` ranks per member, a room of K workers holds
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
    WEFT_DCHECK(together <= all * all);
    sum += (all * all - together) / 2 * clique.bytes_per_rank_pair;
  }
  return sum;
}

// The job as units of `workers_each` workers, and lower bounds of the bytes that leave sets of
// units.
struct View {
  View(const Instance& instance, const ByWorker<UnitIndex>& unit_of,
       std::span<const std::uint32_t> grid, std::uint32_t workers_each)
      : size(workers_each),
        axes(MeasureAxes(objective::TrafficBetween(instance.graph(), unit_of,
                                                   UnitIndex(instance.workers() / size)),
                         grid)),
        surface(axes, instance.workers() / size) {
    WEFT_CHECK(instance.workers() % size == 0);  // every unit is whole
  }

  std::uint32_t size;
  std::vector<GridAxis> axes;
  LeastSurface surface;
  std::optional<Tier> kept;  // a unit must be whole in one domain of this tier
};

// The tile whose units are exactly the sets; empty if there is none.
Shape TileOf(const Instance& instance, const traffic::WorkerSets& sets) {
  const auto sizes = instance.grid().sizes();
  if (sets.size() < 2 || sets.workers.size() != instance.workers()) return {};
  Shape tile;
  std::uint32_t stride = 1;
  for (const std::uint32_t size : sizes) {
    std::uint32_t least = size, most = 0;
    for (const WorkerIndex worker : sets.set(0)) {
      least = std::min(least, worker.Raw() / stride % size);
      most = std::max(most, worker.Raw() / stride % size);
    }
    tile.push_back(most - least + 1);
    if (size % tile.back() != 0) return {};
    stride *= size;
  }
  const objective::Units units = objective::MakeUnits(sizes, tile, instance.workers());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (sets.set(s).size() != units.size) return {};
    for (const WorkerIndex worker : sets.set(s)) {
      if (units.of[worker] != units.of[sets.set(s).front()]) return {};
    }
  }
  return tile;
}

// A lower bound of the cost of a job in a nest with the rooms of one run, from views of the job.
class Over {
 public:
  // Returns nothing if the units that must stay whole do not fit in the run: it is no home then.
  static std::unique_ptr<Over> Of(const Instance& instance, std::span<const Level> nest, Run run,
                                  const View& workers, const View& view) {
    std::optional<NestSum> domains = NestSum::Of(instance, nest, run, GrainOf(nest, view));
    if (!domains) return nullptr;
    return std::unique_ptr<Over>(
        new Over(instance.limits(), nest, workers, view, *std::move(domains)));
  }
  Over(const Over&) = delete;

  double least() const { return least_; }

  // Raises the bound level by level: the prices of a level are kept while those of the next level
  // are searched.
  double Raise(double target) {
    PriceLimits limits{limits_.price_rounds, limits_.price_steps, limits_.bound_steps};
    if (steps_ * kFewestRounds > limits.steps) return 0;
    std::vector<std::vector<double>> leaving(nest_.size());
    double best = 0;
    for (std::size_t l = 0; l < nest_.size(); ++l) {
      Raised raised;
      for (const PartsOf& parts : PartsIn(l)) {
        if (limits.steps == 0) break;
        Raised other = RaiseByPrices(sum_, parts, target, limits);
        if (other.least > raised.least) raised = std::move(other);
      }
      if (raised.least <= best) continue;
      best = raised.least;
      leaving[l] = std::move(raised.leaving);
      sum_.leaving[l] = &leaving[l];
      sum_.surplus = raised.surplus;
      if (best >= target) break;
    }
    return best;
  }

 private:
  Over(const objective::SearchLimits& limits, std::span<const Level> nest, const View& workers,
       const View& view, NestSum domains)
      : limits_(limits), nest_(nest), domains_(std::move(domains)) {
    sum_.nest = &domains_;
    const std::vector<std::uint32_t> grain = GrainOf(nest, view);
    for (std::size_t l = 0; l < nest.size(); ++l) {
      views_.push_back(grain[l] > 1 ? &view : &workers);
      sum_.leaving.push_back(&views_[l]->surface.leaving());
      sum_.surplus += views_[l]->surface.surplus() / 2 * static_cast<double>(nest[l].step);
    }
    least_ = sum_.Least(limits.bound_steps);
    steps_ = domains_.steps();
  }

  static std::vector<std::uint32_t> GrainOf(std::span<const Level> nest, const View& view) {
    std::vector<std::uint32_t> grain;
    for (const Level& level : nest) {
      grain.push_back(view.kept && level.tier <= *view.kept ? view.size : 1);
    }
    return grain;
  }

  std::vector<PartsOf> PartsIn(std::size_t level) const {
    const std::uint64_t room = domains_.Most(level);
    const std::span<const GridAxis> axes = views_[level]->axes;
    std::vector<PartsOf> parts;
    if (room < 2 || room > kLargestRoom) return parts;
    std::uint64_t unit = 1;
    for (std::size_t inner = 1; inner < axes.size(); ++inner) {
      unit *= axes[inner - 1].size;
      if (unit > kLargestUnit) break;
      parts.push_back({level, static_cast<double>(nest_[level].step), axes, inner});
    }
    return parts;
  }

  const objective::SearchLimits& limits_;
  std::span<const Level> nest_;
  NestSum domains_;
  std::vector<const View*> views_;  // by level
  PricedSum sum_;
  double least_ = 0;
  std::uint64_t steps_ = 0;  // of one sum
};

// The digits of the job's grid, split where natural tiles end inside a digit.
std::vector<std::uint32_t> FineGrid(const objective::JobGrid& grid) {
  const std::vector<Shape> tiles = grid.NaturalTiles();
  std::vector<std::uint32_t> fine;
  for (std::size_t i = 0; i < grid.sizes().size(); ++i) {
    std::vector<std::uint32_t> lengths;
    for (const Shape& tile : tiles) lengths.push_back(tile[i]);
    std::sort(lengths.begin(), lengths.end());
    std::uint32_t inner = 1;
    for (const std::uint32_t length : lengths) {
      if (length % inner != 0 || length == inner) continue;
      fine.push_back(length / inner);
      inner = length;
    }
    if (grid.sizes()[i] > inner) fine.push_back(grid.sizes()[i] / inner);
  }
  return fine;
}

class Bound {
 public:
  Bound(const Instance& instance, const Preferences& reached)
      : instance_(instance), workers_(ViewOfWorkers(instance)) {
    for (const objective::GroupConstraint& group : instance.request().groups) {
      std::optional<Tier> kept = group.required;
      if (group.preferred && reached[objective::kGroupsMissed] == 0) kept = group.preferred;
      if (!kept) continue;
      const Shape tile = TileOf(instance, group.sets);
      if (tile.empty()) continue;
      const objective::Units units =
          objective::MakeUnits(instance.grid().sizes(), tile, instance.workers());
      kept_.emplace_back(instance, units.of, units.grid, units.size);
      kept_.back().kept = kept;
    }
  }

  // The bound in one run, raised towards `target` if it is below; nothing if the run has no room
  // for the job in whole groups. What a call without a target has summed is kept for one with.
  // `nest` must outlive this object.
  std::optional<double> Of(std::span<const Level> nest, Run run, double target);

 private:
  static View ViewOfWorkers(const Instance& instance) {
    ByWorker<UnitIndex> of(instance.workers());  // each worker is a unit
    std::iota(of.begin(), of.end(), UnitIndex{0});
    return View(instance, of, FineGrid(instance.grid()), 1);
  }

  // A nest, or its wider levels, and the first node of a run.
  using Place = std::pair<const Level*, NodeIndex>;

  double ByDegree(const Level& level, std::uint64_t room) const;
  const std::vector<double>& ByDegrees(std::span<const Level> nest, Run run, std::size_t& single);
  Over* Surface(std::span<const Level> nest, Run run);
  double ByWorkers(std::span<const Level> nest, Run run) const {
    const auto over = Over::Of(instance_, nest, run, workers_, workers_);
    WEFT_CHECK(over != nullptr);  // Homes returns only runs with a slot for every worker
    return over->least();
  }

  const Instance& instance_;
  View workers_;
  std::vector<View> kept_;
  std::map<Place, std::vector<double>> by_degree_;
  std::map<Place, std::size_t> single_;
  std::map<Place, std::unique_ptr<Over>> surface_;  // null: no room in whole groups
};

std::uint64_t LargestRoom(const Instance& instance, const Level& level, Run run) {
  const std::vector<std::uint64_t> slots = SlotsIn(instance, level, run).slots;
  WEFT_CHECK(!slots.empty());  // a home has nodes
  return *std::max_element(slots.begin(), slots.end());
}

// By level; `single` becomes the number of levels with room for one worker a domain: all bytes
// cross.
const std::vector<double>& Bound::ByDegrees(std::span<const Level> nest, Run run,
                                            std::size_t& single) {
  const auto [at, is_new] = by_degree_.try_emplace({nest.data(), run.begin});
  std::size_t& known = single_[{nest.data(), run.begin}];
  for (std::size_t l = 0; is_new && l < nest.size(); ++l) {
    const std::uint64_t room = LargestRoom(instance_, nest[l], run);
    at->second.push_back(ByDegree(nest[l], room));
    if (room <= 1) known = l + 1;
  }
  single = known;
  return at->second;
}

std::optional<double> Bound::Of(std::span<const Level> nest, Run run, double target) {
  std::size_t single = 0;
  const std::vector<double>& by_degree = ByDegrees(nest, run, single);
  double best = std::accumulate(by_degree.begin(), by_degree.end(), 0.0);
  double narrower = 0;
  for (std::size_t at = 0; at < nest.size(); ++at) {
    // If degrees give the better bound for narrow levels, the surface may still give the better one
    // for the wider levels.
    const bool better =
        at > single && by_degree[at - 1] > 0 && narrower > ByWorkers(nest.first(at), run);
    if (at == single || better) {
      Over* surface = Surface(nest.subspan(at), run);
      if (surface == nullptr) return std::nullopt;
      double least = surface->least();
      if (least < target - narrower) least = std::max(least, surface->Raise(target - narrower));
      best = std::max(best, narrower + least);
    }
    narrower += by_degree[at];
  }
  return best;
}

double Bound::ByDegree(const Level& level, std::uint64_t room) const {
  if (room == 0 || room >= instance_.workers()) return 0;
  return static_cast<double>(CutByDegree(instance_, room) + CutByCliques(instance_, room)) *
         static_cast<double>(level.step);
}

Over* Bound::Surface(std::span<const Level> nest, Run run) {
  const auto [at, is_new] = surface_.try_emplace({nest.data(), run.begin});
  if (!is_new) return at->second.get();
  for (std::size_t i = 0; i < std::max<std::size_t>(1, kept_.size()); ++i) {
    auto over = Over::Of(instance_, nest, run, workers_, kept_.empty() ? workers_ : kept_[i]);
    if (!over) {
      at->second = nullptr;
      break;
    }
    if (!at->second || over->least() > at->second->least()) at->second = std::move(over);
  }
  return at->second.get();
}

// The runs that may hold the whole job, with what has been summed for them.
class BoundOfHomes {
 public:
  BoundOfHomes(const Instance& instance, const Preferences& reached)
      : bound_(instance, reached),
        planes_(PlaneNest::Of(instance)),
        levels_(NestOfLevels(instance)),
        runs_(Homes(instance, objective::HomeTier(instance.request(), reached))) {}

  double Least(double target) {
    std::optional<double> least;
    for (const Run& run : runs_) {
      std::optional<double> cost = bound_.Of(levels_, run, planes_ ? 0 : target);
      if (cost && planes_) {
        const std::optional<double> by_planes = bound_.Of(planes_->nest(), run, target);
        cost = by_planes ? std::optional(std::max(*cost, *by_planes)) : std::nullopt;
      }
      if (cost && (!least || *cost < *least)) least = cost;
    }
    return least.value_or(0);
  }

 private:
  Bound bound_;
  std::optional<PlaneNest> planes_;
  Nest levels_;
  std::vector<Run> runs_;
};

}  // namespace

JobBound::JobBound(const Instance& instance, const Preferences& reached) {
  if (instance.workers() < 2) return;
  auto homes = std::make_shared<BoundOfHomes>(instance, reached);
  least_ = std::max(static_cast<Int128>(homes->Least(0) * kSafety), HopBound(instance));
  raise_ = [homes = std::move(homes)](double target) { return homes->Least(target); };
}

Int128 JobBound::Raise(Int128 cost) {
  if (!raise_ || cost <= least_) return least_;
  // Once: the sums then point to prices that are gone.
  const auto raise = std::exchange(raise_, nullptr);
  return least_ = std::max(static_cast<Int128>(raise(static_cast<double>(cost)) * kSafety), least_);
}

Int128 LowerBound(const Instance& instance, const Preferences& reached) {
  return JobBound(instance, reached).least();
}

Int128 RaisedBound(const Instance& instance, const Preferences& reached, Int128 cost) {
  return JobBound(instance, reached).Raise(cost);
}

}  // namespace weft::bound
