#include "operator/bound/surface.h"

#include <algorithm>
#include <array>
#include <limits>

#include "operator/base/check.h"
#include "operator/bound/lower.h"
#include "operator/bound/safety.h"

namespace weft::bound {

namespace {

// About how many additions are spent on slices: half a millisecond, enough for all sets of 1,400
// workers.
constexpr std::uint64_t kSliceSteps = 1'000'000;
// Larger sets are computed only for a geometric grid of sizes.
constexpr double kGridFactor = 1.06;
constexpr std::size_t kMostAxes = 8;  // digits of a grid: the axes of parallelism
constexpr int kHalvings = 60;         // of the searched level: to the last bit of a double

// A lower bound of the bytes that s vertices cut over all axes, for low <= s <= high, by the lines
// p_i that they touch. A touched line costs the surplus and, if it is not whole, a price; at most
// (s - p_i) / (n - 1) of the touched lines are whole. The minimum is found by water-filling: the
// cost is linear in p_i, so price_i * p_i has one level on all axes without an active limit. Source
// as in the header.
class TouchedLines {
 public:
  TouchedLines(std::span<const GridAxis> axes, std::uint64_t low, std::uint64_t high) {
    WEFT_CHECK(axes.size() <= kMostAxes);
    const auto s = static_cast<double>(low);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i > 0) wanted_ *= s;
      const double n = axes[i].size, each = static_cast<double>(axes[i].each);
      double price = axes[i].Leaving(1) - each * (n - 1) - axes[i].Surplus();
      if (high >= axes[i].size) {  // broken_i >= (n p_i - s) / (n - 1)
        price *= n / (n - 1);
        whole_ += price * static_cast<double>(high) / n;
      }
      price += axes[i].Surplus() + each * n;  // m (n - m) >= n - m pairs
      whole_ += each * static_cast<double>(high);
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

  // The product of the touched lines over all axes at this `level`; `sum` becomes their cost.
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

// The largest set for which stacking slices stays within the limit of steps.
std::uint64_t LargestStacked(std::uint64_t vertices, std::uint64_t most) {
  std::uint64_t size = std::min(vertices, most);
  while (size * size / 2 > kSliceSteps) size = size * 9 / 10;
  return size;
}

double SurplusOf(std::span<const GridAxis> axes, std::uint64_t vertices) {
  if (axes.empty()) return 0;
  double sum = SurplusOf(axes.front().inside, vertices);
  for (const GridAxis& axis : axes) {
    sum += axis.Surplus() * static_cast<double>(vertices) / axis.size;
  }
  return sum;
}

}  // namespace

SliceStack::SliceStack(const GridAxis& axis, std::span<const double> slice, std::uint64_t most,
                       bool remember) {
  WEFT_CHECK(!slice.empty());
  const std::uint64_t largest = std::min<std::uint64_t>(slice.size() - 1, most);
  const std::uint64_t slices = std::min<std::uint64_t>(axis.size, most);
  most = std::min(most, largest * axis.size);
  const std::uint64_t row = most + 1;
  sum_.assign((slices + 1) * row, std::numeric_limits<double>::infinity());
  sum_[0] = 0;
  if (remember) lowest_.assign(sum_.size(), 0);
  for (std::uint64_t part = largest; part > 0; --part) {
    for (std::uint64_t j = 0; j < slices && (j + 1) * part <= most; ++j) {
      const double more =
          slice[part] + static_cast<double>(part) * (axis.Leaving(j + 1) - axis.Leaving(j));
      const std::uint64_t begin = j * part, end = std::min(j * largest, most - part) + 1;
      const double* from = sum_.data() + j * row;
      double* to = sum_.data() + (j + 1) * row + part;
      for (std::uint64_t s = begin; remember && s < end; ++s) {
        if (from[s] + more < to[s])
          lowest_[(j + 1) * row + part + s] = static_cast<std::uint32_t>(part);
      }
      if (begin < end) LowerTo(to + begin, from + begin, more, end - begin);
    }
  }
  least_.assign(sum_.begin(), sum_.begin() + static_cast<std::ptrdiff_t>(row));
  for (std::uint64_t j = 1; j <= slices; ++j) {
    for (std::uint64_t s = 0; s <= most; ++s) least_[s] = std::min(least_[s], sum_[j * row + s]);
  }
  if (!remember) sum_.clear();
}

void SliceStack::AddParts(std::uint64_t size, double weight, std::vector<double>& parts) const {
  const std::uint64_t row = least_.size();
  std::uint64_t at = size;
  WEFT_CHECK(size < row && lowest_.size() == sum_.size());  // it remembered
  while (sum_[at] != least_[size]) at += row;
  while (at % row != 0) {
    const std::uint32_t part = lowest_[at];
    WEFT_CHECK(part > 0 && at >= row + part);  // every slice has a part
    parts[part] += weight;
    at -= row + part;
  }
}

std::vector<double> StackAll(std::span<const GridAxis> axes, std::uint64_t most) {
  if (axes.empty()) return {0};
  if (axes.size() > 1 && axes[0].inside.empty() && axes[1].size > axes[0].size) {
    std::vector<GridAxis> larger_first(axes.begin(), axes.end());
    std::swap(larger_first[0], larger_first[1]);  // the result is the same, with fewer slices
    larger_first[0].inside.clear();
    return StackAll(larger_first, most);
  }
  std::vector<double> slice = StackAll(axes.front().inside, most);
  slice.resize(std::min<std::uint64_t>(axes.front().size, most) + 1, 0);
  for (std::uint64_t m = 0; m < slice.size(); ++m) slice[m] += axes.front().Leaving(m);
  for (const GridAxis& axis : axes.subspan(1)) slice = SliceStack(axis, slice, most).least();
  return slice;
}

LeastSurface::LeastSurface(std::span<const GridAxis> axes, std::uint64_t most) {
  leaving_.assign(most + 1, 0);
  if (axes.empty()) return;
  std::uint64_t vertices = 1;
  for (const GridAxis& axis : axes) vertices *= axis.size;
  surplus_ = SurplusOf(axes, vertices);
  const std::vector<double> stacked = StackAll(axes, LargestStacked(vertices, most));
  WEFT_CHECK(stacked.size() <= leaving_.size());
  for (std::uint64_t s = 0; s < stacked.size(); ++s) leaving_[s] = stacked[s] * kSafety;
  for (std::uint64_t low = stacked.size(); low <= most;) {
    const auto grown = static_cast<std::uint64_t>(static_cast<double>(low) * kGridFactor);
    const std::uint64_t high = std::min(most, std::max(low, grown));
    const double least = TouchedLines(axes, low, high).Least();
    for (; low <= high; ++low) leaving_[low] = least;
  }
  if (most == vertices) leaving_[most] = surplus_ * kSafety;
}

}  // namespace weft::bound
