#include "operator/search/tilings.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/search/orders.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::Tier;
using objective::Instance;
using objective::Shape;
using objective::Tree;
using objective::Volume;

namespace {

// An estimate of a walk's cost, as if every domain had the usual room: the bytes between runs of as
// many workers, tier by tier. It is within a few percent of the cost of most tilings along that
// walk.
class Forecast {
 public:
  // `usual`: room by tier.
  Forecast(const Instance& instance, const Tree& tree, fabric::ByTier<std::uint64_t> usual)
      : graph_(instance.graph()), tree_(tree), usual_(std::move(usual)), run_(instance.workers()) {}

  Int128 Of(const std::vector<WorkerIndex>& walk, std::span<const TilingStep> steps) {
    Int128 cost = 0;
    for (Tier t{1}; t <= tree_.node_tier(); ++t) {
      if (tree_.step(t) == 0) continue;
      cost += LeavingRuns(walk, RunIn(t, steps)) * tree_.step(t);
    }
    return cost;
  }

 private:
  // The number of workers that a domain of the tier takes: whole units of the first step that
  // places units in it or inside it.
  std::uint32_t RunIn(Tier tier, std::span<const TilingStep> steps) const {
    const auto room = static_cast<std::uint32_t>(usual_[tier]);
    for (const TilingStep& step : steps) {
      if (step.tier >= tier && step.unit <= room) return room - room % step.unit;
    }
    return std::max(1U, room);
  }

  // The bytes between runs of this many workers.
  Int128 LeavingRuns(const std::vector<WorkerIndex>& walk, std::uint32_t length) {
    const auto [at, is_new] = leaving_[walk].try_emplace(length, 0);
    if (is_new) {
      CutInRuns(walk, length);
      at->second = Leaving();
    }
    return at->second;
  }

  void CutInRuns(std::span<const WorkerIndex> walk, std::uint32_t length) {
    runs_ = 0;
    for (std::size_t at = 0; at < walk.size(); at += length, ++runs_) {
      for (const WorkerIndex worker :
           walk.subspan(at, std::min<std::size_t>(length, walk.size() - at))) {
        run_[worker] = runs_;
      }
    }
  }

  Int128 Leaving() {
    Int128 bytes = 0;
    for (const traffic::Edge& edge : graph_.edges()) {
      bytes += run_[edge.a] != run_[edge.b] ? edge.bytes : 0;
    }
    ranks_.assign(runs_, 0);
    for (const traffic::Clique& clique : graph_.cliques()) {
      Int128 all = 0, together = 0;
      for (const traffic::Seat& seat : clique.members) {
        ranks_[run_[seat.worker]] += seat.ranks;
        all += seat.ranks;
      }
      for (const traffic::Seat& seat : clique.members) {
        std::int64_t& ranks = ranks_[run_[seat.worker]];
        together += Int128{ranks} * ranks;
        ranks = 0;
      }
      bytes += (all * all - together) / 2 * clique.bytes_per_rank_pair;
    }
    return bytes;
  }

  const traffic::WorkerGraph& graph_;
  const Tree& tree_;
  fabric::ByTier<std::uint64_t> usual_;
  ByWorker<std::uint32_t> run_;
  std::vector<std::int64_t> ranks_;  // by run; scratch
  std::uint32_t runs_ = 0;
  std::map<std::vector<WorkerIndex>, std::map<std::uint32_t, Int128>> leaving_;  // walk, length
};

class Maker {
 public:
  Maker(const Instance& instance, const Tree& tree)
      : instance_(instance), tree_(tree), grid_(instance.grid()) {
    MeasureRooms();
    fabric::ByTier<std::uint64_t> usual;
    for (const auto& rooms : rooms_) usual.push_back(rooms.empty() ? 0 : rooms.back());
    forecast_.emplace(instance, tree, std::move(usual));
  }

  std::vector<Tiling> Make() {
    const Shape ones(grid_.sizes().size(), 1);
    const Shape all(grid_.sizes().begin(), grid_.sizes().end());
    std::vector<Shape> bases = grid_.NaturalTiles();
    bases.push_back(ones);
    for (const Shape& base : bases) {
      plain_.push_back(tilings_.size());
      Around({base});
      for (Tier t = tree_.node_tier() + 1; t-- > Tier{1};) {
        for (std::uint64_t room : rooms_[t]) {
          if (room < 2 * Volume(base)) continue;
          const Shape box = grid_.BestTile(base, all, room);
          if (box != base && Volume(box) < instance_.workers()) Around({box, base});
        }
      }
    }
    return PlainFirst();
  }

 private:
  // By tier: the largest room of a domain, and the median room of the domains that are used if the
  // roomiest are filled first.
  void MeasureRooms() {
    rooms_.resize(tree_.node_tier() + 1);
    for (Tier t{1}; t <= tree_.node_tier(); ++t) {
      std::vector<std::uint64_t> room;
      for (DomainIndex d{0}; d < tree_.domains(t).EndIndex(); ++d) {
        room.push_back(std::min<std::uint64_t>(tree_.SlotsIn(t, d), instance_.workers()));
      }
      std::sort(room.begin(), room.end(), std::greater<>());
      std::size_t used = 0;
      for (std::uint64_t sum = 0; used < room.size() && sum < instance_.workers(); ++used) {
        sum += room[used];
      }
      rooms_[t] = {room.front()};
      if (room[used / 2] != room.front()) rooms_[t].push_back(room[used / 2]);
    }
  }

  // Adds tilings with the tiles of `nest`, the widest first; steps for what a node holds and for
  // single workers follow.
  void Around(std::vector<Shape> nest) {
    const Shape inner = nest.back();
    const std::uint64_t most = rooms_.back().front();
    if (most > 1 && Volume(inner) > 1) {
      const Shape ones(grid_.sizes().size(), 1);
      const Shape at_node = grid_.BestTile(ones, inner, most);
      if (at_node != inner && at_node != ones) nest.push_back(at_node);
    }
    std::vector<TilingStep> steps;
    for (const Shape& tile : nest) {
      const auto unit = static_cast<std::uint32_t>(Volume(tile));
      if (unit == 1) continue;
      for (Tier t = tree_.node_tier() + 1; t-- > Tier{1};) {
        if (rooms_[t].front() >= unit) steps.push_back({unit, t});
      }
    }
    steps.push_back({1, tree_.node_tier()});
    Orders(nest, steps);
  }

  // Adds tilings whose tiles follow each other along the heaviest axis first, and tilings along the
  // fastest digit first.
  void Orders(const std::vector<Shape>& nest, const std::vector<TilingStep>& steps) {
    std::vector<std::size_t> order(grid_.heaviest_first().begin(), grid_.heaviest_first().end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<WorkerIndex> walk = Walk(grid_.sizes(), nest, order);
      const Int128 forecast = forecast_->Of(walk, steps);
      Add({walk, steps, RunPrices::Kind::kLeast, forecast});
      Add({std::move(walk), steps, RunPrices::Kind::kMean, forecast});
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
  }

  // One tiling of each natural tile without boxes and one of single workers come first, then the
  // others; both parts are ordered by forecast. The forecast assumes equal domains, so it misjudges
  // fragments, for which a plain tiling is often the best.
  std::vector<Tiling> PlainFirst() {
    std::vector<std::size_t> order(tilings_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      return std::pair(!std::binary_search(plain_.begin(), plain_.end(), i), tilings_[i].forecast);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<Tiling> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(tilings_[i]));
    return sorted;
  }

  void Add(Tiling tiling) {
    WEFT_CHECK(tiling.walk.size() == instance_.workers());
    if (std::find(tilings_.begin(), tilings_.end(), tiling) == tilings_.end()) {
      tilings_.push_back(std::move(tiling));
    }
  }

  const Instance& instance_;
  const Tree& tree_;
  const objective::JobGrid& grid_;
  fabric::ByTier<std::vector<std::uint64_t>> rooms_;
  std::optional<Forecast> forecast_;
  std::vector<Tiling> tilings_;
  std::vector<std::size_t> plain_;  // ascending: the first tiling of each base
};

}  // namespace

std::vector<Tiling> TilingsFor(const Instance& instance, const Tree& tree) {
  if (instance.workers() < 2 || tree.SlotsIn(fabric::kOutside, DomainIndex{0}) < instance.workers())
    return {};
  return Maker(instance, tree).Make();
}

}  // namespace weft::search
