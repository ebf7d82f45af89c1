#include "operator/search/box_layouts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/search/box_paths.h"

namespace weft::search {

using fabric::TorusPlace;
using fabric::TorusShape;
using objective::TorusSize;

namespace {

// Trying one way to divide a digit counts as this many steps; a pair of vertices counts as one.
constexpr std::uint64_t kStepsOfVisit = 16;

// One digit laid out: a step of its path along dimension d is stride[d] places long.
struct Laid {
  std::size_t digit = 0;
  TorusSize stride{1, 1, 1};
  BoxPath path;
  Int128 hops = 0;
};

// All ways to divide n among the dimensions, compact ones first.
std::vector<TorusSize> FactorsOf(std::uint32_t n) {
  std::vector<TorusSize> all;
  for (std::uint32_t a = 1; a <= n; ++a) {
    if (n % a != 0) continue;
    for (std::uint32_t b = 1; b <= n / a; ++b) {
      if (n / a % b == 0) all.push_back({a, b, n / a / b});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const TorusSize& x, const TorusSize& y) {
    return x[0] + x[1] + x[2] < y[0] + y[1] + y[2];
  });
  return all;
}

class Layouts {
 public:
  Layouts(std::span<const DigitTraffic> digits, const TorusShape& torus, std::uint64_t steps)
      : digits_(digits), torus_(torus), steps_(steps), order_(digits.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return digits_[a].bytes > digits_[b].bytes;
    });
    for (const DigitTraffic& digit : digits_) factors_.push_back(FactorsOf(digit.size));
  }

  std::vector<BoxLayout> Run() {
    Visit(0, {1, 1, 1}, 0);
    std::vector<BoxLayout> layouts;
    for (const auto& [size, laid] : best_) layouts.push_back(LayoutOf(size, laid));
    std::stable_sort(layouts.begin(), layouts.end(),
                     [](const BoxLayout& a, const BoxLayout& b) { return a.hops < b.hops; });
    return layouts;
  }

 private:
  // Lays the digits from `depth` on around the digits that are laid out already, which fill a box
  // of this size.
  void Visit(std::size_t depth, const TorusSize& size, Int128 hops) {
    if (depth == order_.size()) {
      const auto known = best_.find(size);
      if (known == best_.end() || hops < Sum(known->second)) best_[size] = laid_;
      return;
    }
    const std::size_t digit = order_[depth];
    for (const TorusSize& factors : factors_[digit]) {
      TorusSize grown = size;
      bool fits = true;
      for (std::size_t d = 0; d < size.size(); ++d) {
        grown[d] *= factors[d];
        fits = fits && grown[d] <= torus_.sizes()[d];
      }
      if (!fits) continue;
      if (steps_ == 0 && !best_.empty()) return;
      Spend(kStepsOfVisit);
      laid_.push_back(&Lay(digit, factors, size));
      Visit(depth + 1, grown, hops + laid_.back()->hops);
      laid_.pop_back();
    }
  }

  void Spend(std::uint64_t steps) { steps_ -= std::min(steps_, steps); }

  static Int128 Sum(const std::vector<const Laid*>& laid) {
    Int128 sum = 0;
    for (const Laid* one : laid) sum += one->hops;
    return sum;
  }

  // Lays one digit along the path that costs least.
  const Laid& Lay(std::size_t digit, const TorusSize& factors, const TorusSize& stride) {
    const auto [known, is_new] = known_.try_emplace({digit, factors, stride});
    Laid& laid = known->second;
    if (!is_new) return laid;
    laid.digit = digit;
    laid.stride = stride;
    for (BoxPath& path : PathsThrough(factors, stride)) {
      WEFT_CHECK(path.size() == digits_[digit].size);  // it visits each place once
      const Int128 hops = HopsOf(digits_[digit], path, stride);
      if (!laid.path.empty() && hops >= laid.hops) continue;
      laid.hops = hops;
      laid.path = std::move(path);
    }
    return laid;
  }

  Int128 HopsOf(const DigitTraffic& digit, const BoxPath& path, const TorusSize& stride) {
    Spend(digit.pairs.size() + path.size());
    Int128 sum = 0;
    for (const DigitTraffic::Pair& pair : digit.pairs) {
      std::uint32_t hops = 0;
      for (std::size_t d = 0; d < stride.size(); ++d) {
        const std::uint32_t a = path[pair.a][d], b = path[pair.b][d], size = torus_.sizes()[d];
        const std::uint32_t apart = (a > b ? a - b : b - a) * stride[d];
        hops += torus_.wraps(d) ? std::min(apart, size - apart) : apart;
      }
      sum += pair.bytes * hops;
    }
    return sum;
  }

  BoxLayout LayoutOf(const TorusSize& size, const std::vector<const Laid*>& laid) const {
    std::vector<const Laid*> of_digit(digits_.size());
    for (const Laid* one : laid) of_digit[one->digit] = one;
    WEFT_CHECK(laid.size() == digits_.size());  // each digit is laid once
    WEFT_CHECK(std::find(of_digit.begin(), of_digit.end(), nullptr) == of_digit.end());
    BoxLayout layout{size, std::vector<TorusPlace>(std::size_t{size[0]} * size[1] * size[2]),
                     Sum(laid)};
    for (std::size_t v = 0; v < layout.places.size(); ++v) {
      std::size_t rest = v;
      for (std::size_t i = 0; i < digits_.size(); ++i) {
        const TorusPlace& step = of_digit[i]->path[rest % digits_[i].size];
        rest /= digits_[i].size;
        for (std::size_t d = 0; d < step.size(); ++d) {
          layout.places[v][d] =
              static_cast<std::uint16_t>(layout.places[v][d] + step[d] * of_digit[i]->stride[d]);
        }
      }
    }
    return layout;
  }

  std::span<const DigitTraffic> digits_;
  const TorusShape& torus_;
  std::uint64_t steps_;
  std::vector<std::size_t> order_;  // of the digits, heaviest first
  std::vector<std::vector<TorusSize>> factors_;
  std::map<std::tuple<std::size_t, TorusSize, TorusSize>, Laid> known_;
  std::vector<const Laid*> laid_;  // the digits laid so far; points into known_
  std::map<TorusSize, std::vector<const Laid*>> best_;
};

}  // namespace

Int128 DigitTraffic::Across(std::uint32_t from, std::uint32_t middle, std::uint32_t to) const {
  const auto side = [&](std::uint32_t v) { return v < from || v >= to ? 0 : v < middle ? 1 : 2; };
  Int128 sum = 0;
  for (const Pair& pair : pairs) {
    if (side(pair.a) + side(pair.b) == 3 && side(pair.a) != 0 && side(pair.b) != 0) {
      sum += pair.bytes;
    }
  }
  return sum;
}

std::vector<DigitTraffic> TrafficByDigit(std::span<const objective::UnitEdge> edges,
                                         std::span<const std::uint32_t> grid) {
  using Values = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<std::map<Values, Int128>> sums(grid.size());
  for (const objective::UnitEdge& edge : edges) {
    std::uint32_t a = edge.a.Raw(), b = edge.b.Raw();
    std::size_t differ = grid.size();
    Values values;
    int digits = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (a % grid[i] != b % grid[i]) {
        ++digits;
        differ = i;
        values = std::minmax({a % grid[i], b % grid[i]});
      }
      a /= grid[i];
      b /= grid[i];
    }
    if (digits == 1) sums[differ][values] += edge.bytes;
  }
  std::vector<DigitTraffic> digits(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) {
    digits[i].size = grid[i];
    for (const auto& [values, bytes] : sums[i]) {
      digits[i].pairs.push_back({values.first, values.second, bytes});
      digits[i].bytes += bytes;
    }
  }
  return digits;
}

std::vector<BoxLayout> LayIntoBoxes(std::span<const DigitTraffic> digits, const TorusShape& torus,
                                    std::uint64_t steps) {
  return Layouts(digits, torus, steps).Run();
}

}  // namespace weft::search
