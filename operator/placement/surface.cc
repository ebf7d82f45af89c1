#include "operator/placement/surface.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"
#include "operator/base/units.h"

namespace weft::placement {

namespace {

// Room for rounding in the numeric part: a bound must not creep above the truth.
constexpr double kSafety = 1 - 1e-9;
// Set sizes looked at one by one; beyond, on a geometric grid.
constexpr std::uint64_t kEverySize = 64;
constexpr double kGridFactor = 1.06;
constexpr std::size_t kMostAxes = 8;  // digits of a grid: the axes of parallelism
constexpr int kHalvings = 60;         // of the level searched for: to the last bit of a double

// The lines of one digit of the grid: least traffic between two vertices of a line, and how many
// pairs of them have any. `to_end` joins the ends of a line of 3 or more, which makes it a ring.
struct Line {
  std::uint32_t stride, size, to_end;
  std::int64_t along = Bytes::kMax, around = Bytes::kMax, any = Bytes::kMax;
  std::uint64_t pairs_along = 0, pairs_around = 0, pairs = 0;

  std::uint32_t Digit(std::uint32_t vertex) const { return vertex / stride % size; }

  void Add(const traffic::Edge& edge) {
    const std::uint32_t apart = edge.b - edge.a;
    if (apart % stride != 0 || apart / stride + Digit(edge.a) >= size) return;
    ++pairs;
    any = std::min(any, edge.bytes);
    if (apart == stride) {
      along = std::min(along, edge.bytes);
      ++pairs_along;
    } else if (apart == to_end) {
      around = std::min(around, edge.bytes);
      ++pairs_around;
    }
  }

  GridAxis Axis(std::uint64_t vertices) const {
    const std::uint64_t lines = vertices / size;
    if (pairs_along < lines * (size - 1)) return {.size = size};
    const bool ring = to_end > 0 && pairs_around == lines;
    const bool all = size > 2 && pairs == lines * size * (size - 1) / 2;
    const std::int64_t each = all ? any : 0;
    return {.size = size,
            .each = static_cast<double>(each),
            .bytes = static_cast<double>((ring ? std::min(along, around) : along) - each),
            .ring = ring};
  }
};

std::vector<GridAxis> Measure(std::span<const traffic::Edge> edges,
                              std::span<const std::uint32_t> grid) {
  std::vector<Line> lines;
  std::uint32_t stride = 1;
  for (const std::uint32_t size : grid) {
    lines.push_back({.stride = stride, .size = size, .to_end = size > 2 ? (size - 1) * stride : 0});
    stride *= size;
  }
  for (const traffic::Edge& edge : edges) {
    for (Line& line : lines) line.Add(edge);
  }
  std::vector<GridAxis> axes;
  for (const Line& line : lines) axes.push_back(line.Axis(stride));
  return axes;
}

// Bytes of neighbours that one broken line separates.
double PriceOf(const GridAxis& axis, bool all_rings) {
  return axis.ring || (all_rings && axis.size > 2) ? 2 * axis.bytes : axis.bytes;
}

// Least sum over the axes of what s vertices cut, low <= s <= high, by water-filling: the cost is
// linear in the lines p_i that are touched, so price_i * p_i is one level wherever no limit holds.
// Source as in the header; lines cut m (n - m) >= n - m pairs where all send to each other.
class Lines {
 public:
  Lines(std::span<const GridAxis> axes, std::uint64_t low, std::uint64_t high, bool all_rings) {
    WEFT_CHECK(axes.size() <= kMostAxes);
    const auto s = static_cast<double>(low);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i > 0) wanted_ *= s;
      const double n = axes[i].size;
      double price = PriceOf(axes[i], all_rings);
      if (high >= axes[i].size) {  // broken_i >= (n p_i - s) / (n - 1)
        price *= n / (n - 1);
        whole_ += price * static_cast<double>(high) / n;
      }
      price += axes[i].each * n;
      whole_ += axes[i].each * static_cast<double>(high);
      limits_[i] = {price, std::max(1.0, s / n), s};
    }
    count_ = axes.size();
  }

  double Least() const {
    double low = 0, high = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      high = std::max(high, limits_[i].price * limits_[i].most);
    }
    double sum = 0;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (Fill(middle, sum) >= wanted_ ? high : low) = middle;
    }
    Fill(low, sum);
    return std::max(0.0, sum * kSafety - whole_);
  }

 private:
  struct Limits {
    double price, least, most;
  };

  // The product of lines touched where the level stands at `level`; `sum`: what they cost.
  double Fill(double level, double& sum) const {
    double product = 1;
    sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Limits& axis = limits_[i];
      const double touched = axis.price > 0
                                 ? std::min(std::max(level / axis.price, axis.least), axis.most)
                                 : axis.most;
      product *= touched;
      sum += axis.price * touched;
    }
    return product;
  }

  std::array<Limits, kMostAxes> limits_{};
  std::size_t count_ = 0;
  double wanted_ = 1, whole_ = 0;
};

// The same for one s in whole lines: every choice of lines touched on all axes but the last, which
// leaves a least number of the last.
class WholeLines {
 public:
  WholeLines(std::span<const GridAxis> axes, std::uint64_t s, bool all_rings)
      : axes_(axes), s_(s), all_rings_(all_rings) {
    for (std::size_t i = 1; i < axes.size(); ++i) wanted_ *= s;
  }

  double Least() {
    Visit(0, 1, 0);
    return least_ * kSafety;
  }
  // Sets of up to this many vertices are looked at this way.
  static std::uint64_t Most(std::size_t axes) {
    constexpr std::array<std::uint64_t, 5> kMost = {0, 1024, 64, 20, 6};
    return axes < kMost.size() ? kMost[axes] : 0;
  }

 private:
  std::uint64_t LeastTouched(const GridAxis& axis) const {
    return (s_ + axis.size - 1) / axis.size;
  }

  double Cut(const GridAxis& axis, std::uint64_t touched) const {
    const std::uint64_t n = axis.size;
    // As uneven as can be: whole lines, one part, and single vertices.
    const std::uint64_t whole = std::min(touched, (s_ - touched) / (n - 1));
    const std::uint64_t part = whole == touched ? 0 : (s_ - touched) % (n - 1) + 1;
    const std::uint64_t ones = whole == touched ? 0 : touched - whole - 1;
    const std::uint64_t apart = n * s_ - whole * n * n - part * part - ones;
    return axis.each * static_cast<double>(apart) +
           PriceOf(axis, all_rings_) * static_cast<double>(touched - whole);
  }

  void Visit(std::size_t i, std::uint64_t product, double cost) {
    if (least_ >= 0 && cost >= least_) return;
    const GridAxis& axis = axes_[i];
    if (i + 1 == axes_.size()) {
      const std::uint64_t touched = std::max((wanted_ + product - 1) / product, LeastTouched(axis));
      if (touched > s_) return;
      cost += Cut(axis, touched);
      if (least_ < 0 || cost < least_) least_ = cost;
      return;
    }
    for (std::uint64_t touched = LeastTouched(axis); touched <= s_; ++touched) {
      Visit(i + 1, product * touched, cost + Cut(axis, touched));
    }
  }

  std::span<const GridAxis> axes_;
  std::uint64_t s_;
  bool all_rings_;
  std::uint64_t wanted_ = 1;
  double least_ = -1;
};

}  // namespace

std::vector<GridAxis> MeasureAxes(std::span<const traffic::Edge> edges,
                                  std::span<const std::uint32_t> digits) {
  std::vector<std::uint32_t> grid;
  for (std::uint32_t size : digits) {
    if (size > 1) grid.push_back(size);
  }
  while (true) {
    std::vector<GridAxis> axes = Measure(edges, grid);
    const auto silent =
        std::find_if(axes.begin(), axes.end(), [](const GridAxis& axis) { return axis.silent(); });
    if (silent == axes.end() || grid.size() <= 1) return axes;
    const auto at = static_cast<std::size_t>(silent - axes.begin());
    const std::size_t into = at > 0 ? at - 1 : 1;
    grid[into] *= grid[at];
    grid.erase(grid.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

LeastSurface::LeastSurface(std::span<const GridAxis> axes, std::uint64_t most,
                           bool chains_as_rings) {
  if (axes.empty()) return;
  std::uint64_t vertices = 1;
  for (const GridAxis& axis : axes) vertices *= axis.size;
  for (const GridAxis& axis : axes) {
    if (!chains_as_rings || axis.ring || axis.size < 3) continue;
    phantom_ += 2 * axis.bytes * static_cast<double>(vertices / axis.size);
  }
  for (std::uint64_t low = 1; low <= most;) {
    const auto grown = static_cast<std::uint64_t>(static_cast<double>(low) * kGridFactor);
    const std::uint64_t high = low <= kEverySize ? low : std::min(most, grown);
    double least = Lines(axes, low, high, chains_as_rings).Least();
    if (low == high && low <= WholeLines::Most(axes.size())) {
      least = std::max(least, WholeLines(axes, low, chains_as_rings).Least());
    }
    const double each = least / static_cast<double>(high);
    steps_.push_back(
        {low, high, least, steps_.empty() ? each : std::min(each, steps_.back().each)});
    low = high + 1;
  }
}

std::vector<LeastSurface::Step>::const_iterator LeastSurface::StepOf(std::uint64_t size) const {
  return std::partition_point(steps_.begin(), steps_.end(),
                              [&](const Step& step) { return step.high < size; });
}

double LeastSurface::PerVertex(std::uint64_t room) const {
  const auto step = StepOf(room);
  return step == steps_.end() ? 0 : step->each;
}

// Each set costs at least a + b * size, for every line below the least surfaces of all sizes: with
// the fewest sets that hold the vertices, the sum is at least a * sets + b * vertices.
double LeastSurface::ByCount(std::span<const Room> rooms, std::uint64_t vertices) const {
  std::uint64_t sets = 0, left = vertices;
  for (const Room& room : rooms) {
    if (left == 0 || room.size == 0) break;
    const std::uint64_t used = std::min(room.count, (left + room.size - 1) / room.size);
    sets += used;
    left -= std::min(left, used * room.size);
  }
  const std::uint64_t largest = rooms.front().size;
  double best = 0;
  const auto consider = [&](double slope) {
    double base = steps_.front().least - slope;
    for (const Step& step : steps_) {
      if (step.low > largest) break;
      base = std::min(base, step.least - slope * static_cast<double>(std::min(step.high, largest)));
    }
    if (base < 0) return;
    best = std::max(best, base * static_cast<double>(sets) + slope * static_cast<double>(vertices));
  };
  consider(0);
  // Slopes of the line from each size to the largest one: the hull's last edge is among them.
  constexpr std::uint64_t kSlopes = 8;
  const Step* last = &steps_.front();
  for (const Step& step : steps_) {
    if (step.low <= largest) last = &step;
  }
  for (std::uint64_t i = 0; i < kSlopes; ++i) {
    const std::uint64_t size = 1 + largest * i / kSlopes;
    if (size >= last->high) break;
    const auto from = std::partition_point(steps_.begin(), steps_.end(),
                                           [&](const Step& s) { return s.high < size; });
    const double slope = (last->least - from->least) / static_cast<double>(last->high - size);
    if (slope > 0) consider(slope);
  }
  return best;
}

double LeastSurface::Sum(std::span<const Room> rooms, std::uint64_t vertices) const {
  if (steps_.empty() || rooms.empty() || vertices == 0) return 0;
  double sum = 0;
  std::uint64_t left = vertices;
  for (const Room& room : rooms) {
    const std::uint64_t taken = std::min(left, room.size * room.count);
    sum += PerVertex(room.size) * static_cast<double>(taken);
    left -= taken;
  }
  return std::max(sum, ByCount(rooms, vertices)) * kSafety;
}

}  // namespace weft::placement
