#include "operator/bound/part_prices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "operator/base/check.h"
#include "operator/bound/surface.h"

namespace weft::bound {

namespace {

// After kPatience rounds that each gain less than kProgress of the distance to the target, steps
// are halved.
constexpr std::uint32_t kPatience = 5;
constexpr double kProgress = 1.0 / 64;
// Prices that have gained less than kProgress after this many rounds are abandoned.
constexpr std::uint32_t kTrial = 8;
// A step that went too far is taken back by the next one. That step goes back at most this many
// times the distance from the first sum to the target.
constexpr double kLongest = 16;
// Prices to start with, as shares of the bytes that leave one vertex.
constexpr double kStarts[] = {0, 0.5, 1};
// Relative rounding error of a difference of two sums.
constexpr double kRounding = 1e-9;

std::uint64_t VerticesOf(std::span<const GridAxis> axes) {
  std::uint64_t vertices = 1;
  for (const GridAxis& axis : axes) vertices *= axis.size;
  return vertices;
}

// Prices of parts, by their size.
class Prices {
 public:
  Prices(const PartsOf& of, std::uint64_t room)
      : outer_(of.axes.subspan(of.inner)),
        units_(static_cast<double>(VerticesOf(outer_))),
        unit_(VerticesOf(of.axes.first(of.inner))),
        room_(room),
        leaving_(StackAll(of.axes.first(of.inner), std::min(unit_, room))),
        price_(leaving_.size(), 0),
        direction_(leaving_.size(), 0) {
    WEFT_CHECK(of.inner > 0 && of.inner < of.axes.size());
    WEFT_CHECK(leaving_.size() > 1);  // prices are shares of what leaves one vertex
  }

  // The price of every part is `part`, and of a whole unit 2 `part`: a divided unit, with two or
  // more parts, then costs at least as much.
  void Start(double part) {
    std::fill(price_.begin() + 1, price_.end(), part);
    if (price_.size() == unit_ + 1) price_.back() = 2 * part;
  }
  double LeavingOne() const { return leaving_[1]; }

  // By size of a set, the bytes that leave it, at these prices.
  std::vector<double> Leaving() {
    std::vector<double> slice = leaving_;
    for (std::size_t c = 0; c < slice.size(); ++c) slice[c] += price_[c];
    stacks_.clear();
    for (const GridAxis& axis : outer_) {
      stacks_.emplace_back(axis, slice, room_, true);
      slice = stacks_.back().least();
    }
    return slice;
  }

  // The largest sum of prices over the parts of all units.
  double Dearest() {
    std::vector<double> most(unit_ + 1, -std::numeric_limits<double>::infinity());
    std::vector<std::uint64_t> part(unit_ + 1, 0);
    most[0] = 0;
    for (std::uint64_t size = 1; size <= unit_; ++size) {
      for (std::uint64_t c = std::min<std::uint64_t>(price_.size() - 1, size); c > 0; --c) {
        if (most[size - c] + price_[c] <= most[size]) continue;
        most[size] = most[size - c] + price_[c];
        part[size] = c;
      }
    }
    divided_.assign(price_.size(), 0);
    for (std::uint64_t left = unit_; left > 0; left -= part[left]) {
      WEFT_CHECK(part[left] > 0 && part[left] <= left);  // else the loop has no end
      divided_[part[left]] += units_;
    }
    return most[unit_] * units_;
  }

  // Moves the prices so that the sum would grow by `gain` if it were linear. `sets`: how many sets
  // of each size the domains take.
  void Move(std::vector<double> sets, double gain) {
    for (std::size_t i = stacks_.size(); i-- > 0;) {
      std::vector<double> parts(std::max<std::size_t>(price_.size(), room_ + 1), 0);
      for (std::size_t s = 1; s < sets.size(); ++s) {
        if (sets[s] != 0) stacks_[i].AddParts(s, sets[s], parts);
      }
      sets = std::move(parts);
    }
    double against = 0, square = 0;
    for (std::size_t c = 1; c < price_.size(); ++c) {
      divided_[c] = sets[c] - divided_[c];  // the gradient
      against -= divided_[c] * direction_[c];
      square += direction_[c] * direction_[c];
    }
    const double kept = square > 0 ? std::max(0.0, against / square) : 0;
    square = 0;
    for (std::size_t c = 1; c < price_.size(); ++c) {
      direction_[c] = divided_[c] + kept * direction_[c];
      square += direction_[c] * direction_[c];
    }
    for (std::size_t c = 1; c < price_.size() && square > 0; ++c) {
      price_[c] += direction_[c] * gain / square;
    }
  }

 private:
  std::span<const GridAxis> outer_;
  double units_;
  std::uint64_t unit_, room_;
  std::vector<double> leaving_;  // by size of a part, without prices
  std::vector<double> price_;
  std::vector<double> direction_;  // of the last move
  std::vector<double> divided_;    // parts of all units, divided the dearest way
  std::vector<SliceStack> stacks_;
};

}  // namespace

double PricedSum::Least(std::uint64_t most_steps, bool remember) const {
  const double least = nest->Least(leaving, most_steps, remember);
  return least - surplus - kRounding * (std::abs(least) + std::abs(surplus));
}

Raised RaiseByPrices(const PricedSum& sum, const PartsOf& parts, double target,
                     PriceLimits& limits) {
  const double weight = parts.step / 2;  // a pair counts from both sides
  const std::uint64_t room = sum.nest->Most(parts.level);
  Prices prices(parts, room);
  Raised best;
  const auto value_now = [&] {
    PricedSum priced = sum;
    std::vector<double> leaving = prices.Leaving();
    priced.leaving[parts.level] = &leaving;
    priced.surplus += prices.Dearest() * weight;
    const std::uint64_t before = sum.nest->steps();
    const double value = priced.Least(limits.exact_steps, true);
    WEFT_CHECK(sum.nest->steps() >= before);
    const std::uint64_t steps = sum.nest->steps() - before + room * room;
    limits.steps -= std::min(limits.steps, steps);
    if (value > best.least) best = {value, std::move(leaving), priced.surplus};
    return value;
  };
  double start = 0, first = 0;
  for (const double share : kStarts) {
    if (limits.steps == 0) break;
    prices.Start(-share * prices.LeavingOne());
    const double value = value_now();
    if (value <= first) continue;
    first = value;
    start = share;
  }
  prices.Start(-start * prices.LeavingOne());
  double gain = 1, before = 0;
  std::uint32_t idle = 0;
  for (std::uint32_t round = 0; round < limits.rounds && best.least < target; ++round) {
    if (limits.steps == 0) break;
    const double value = value_now();
    idle = value > before + kProgress * (target - before) ? 0 : idle + 1;
    before = std::max(before, value);
    if (round == kTrial && best.least < first + kProgress * (target - first)) break;
    if (idle == kPatience) {
      gain /= 2;
      idle = 0;
    }
    const double missing = std::min(target - value, kLongest * (target - first));
    prices.Move(sum.nest->Used(parts.level), gain * missing / weight);
  }
  return best;
}

}  // namespace weft::bound
