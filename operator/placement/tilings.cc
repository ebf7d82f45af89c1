#include "operator/placement/tilings.h"

#include <algorithm>

#include "operator/placement/orders.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

class Maker {
 public:
  Maker(const Instance& instance, const Tree& tree)
      : instance_(instance), tree_(tree), grid_(instance.grid()) {
    MeasureRooms();
  }

  std::vector<Tiling> Make() {
    const Shape ones(grid_.sizes().size(), 1);
    const Shape all(grid_.sizes().begin(), grid_.sizes().end());
    std::vector<Shape> bases = grid_.NaturalTiles();
    bases.push_back(ones);
    for (const Shape& base : bases) {
      Around({base});
      for (Tier t = tree_.node_tier() + 1; t-- > 1;) {
        for (std::uint64_t room : rooms_[t]) {
          if (room < 2 * Volume(base)) continue;
          const Shape box = grid_.BestTile(base, all, room);
          if (box != base && Volume(box) < instance_.workers()) Around({box, base});
        }
      }
    }
    return std::move(tilings_);
  }

 private:
  // By tier: the largest room of a domain, and the room in the middle of those that a filling
  // with the roomiest first would use.
  void MeasureRooms() {
    rooms_.resize(tree_.node_tier() + 1);
    for (Tier t = 1; t <= tree_.node_tier(); ++t) {
      std::vector<std::uint64_t> room;
      for (DomainIndex d = 0; d < tree_.domains(t).size(); ++d) {
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

  // The widest of `nest` first; single workers and what nodes hold come after.
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
      for (Tier t = tree_.node_tier() + 1; t-- > 1;) {
        if (rooms_[t].front() >= unit) steps.push_back({unit, t});
      }
    }
    steps.push_back({1, tree_.node_tier()});
    Orders(nest, steps);
  }

  // Tiles follow each other along the heaviest axis first, or along the fastest.
  void Orders(const std::vector<Shape>& nest, const std::vector<TilingStep>& steps) {
    std::vector<std::size_t> order(grid_.heaviest_first().begin(), grid_.heaviest_first().end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<std::uint32_t> walk = Walk(grid_.sizes(), nest, order);
      Add({walk, steps, RunPrices::Kind::kLeast});
      Add({std::move(walk), steps, RunPrices::Kind::kMean});
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
  }

  void Add(Tiling tiling) {
    if (std::find(tilings_.begin(), tilings_.end(), tiling) == tilings_.end()) {
      tilings_.push_back(std::move(tiling));
    }
  }

  const Instance& instance_;
  const Tree& tree_;
  const JobGrid& grid_;
  std::vector<std::vector<std::uint64_t>> rooms_;
  std::vector<Tiling> tilings_;
};

}  // namespace

std::vector<Tiling> TilingsFor(const Instance& instance, const Tree& tree) {
  if (instance.workers() < 2 || tree.SlotsIn(0, 0) < instance.workers()) return {};
  return Maker(instance, tree).Make();
}

}  // namespace weft::placement
