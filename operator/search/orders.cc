#include "operator/search/orders.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace weft::placement {

using fabric::Tier;

namespace {

// The bytes per worker that leave a tile: each divided digit counts its axis on two faces.
double Surface(std::span<const std::uint32_t> grid, std::span<const double> weights,
               std::span<const std::uint32_t> tile) {
  double surface = 0;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    if (tile[i] < grid[i]) surface += 2 * weights[i] / tile[i];
  }
  return surface;
}

// Each worker's digits in the grid, packed into one number, the widest highest.
class DigitCodes {
 public:
  DigitCodes(std::uint32_t workers, std::span<const std::uint32_t> grid) : codes_(workers) {
    std::uint32_t stride = 1;
    int shift = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      std::uint64_t digit = 0;
      for (std::uint32_t w = 0; w < workers; w += stride) {
        const std::uint32_t end = std::min(workers, w + stride);
        for (std::uint32_t v = w; v < end; ++v) codes_[v] |= digit << shift;
        if (++digit == grid[i]) digit = 0;
      }
      stride *= grid[i];
      const int bits = static_cast<int>(std::bit_width(grid[i] - 1));
      for (int bit = 0; bit < bits; ++bit)
        digit_[static_cast<std::size_t>(shift) + static_cast<std::size_t>(bit)] = i;
      shift += bits;
    }
  }
  // The widest digit in which the two workers differ; 0 if they are the same.
  std::size_t Widest(std::uint32_t a, std::uint32_t b) const {
    const std::uint64_t parted = codes_[a] ^ codes_[b];
    return parted == 0 ? 0 : digit_[static_cast<std::size_t>(std::bit_width(parted) - 1)];
  }

 private:
  std::vector<std::uint64_t> codes_;
  std::array<std::size_t, 64> digit_{};
};

struct TileSearch {
  std::span<const std::uint32_t> grid;
  std::span<const std::uint32_t> inner;
  std::span<const double> weights;
  std::uint64_t room = 1;
  std::vector<std::vector<std::uint32_t>> divisors;
  Shape tile, best;
  double best_surface = -1;
  std::uint64_t best_volume = 0;

  void Visit(std::size_t digit, std::uint64_t volume) {
    if (digit == tile.size()) {
      const double surface = Surface(grid, weights, tile);
      const bool better = best_surface < 0 || surface < best_surface ||
                          (surface == best_surface && volume > best_volume);
      if (!better) return;
      best = tile;
      best_surface = surface;
      best_volume = volume;
      return;
    }
    for (std::uint32_t d : divisors[digit]) {
      if (volume * d > room && d > 1) break;
      tile[digit] = inner[digit] * d;
      Visit(digit + 1, volume * d);
    }
  }
};

// The offsets of the boxes `inner` in `box`, along the first of the digits first.
class Offsets {
 public:
  Offsets(std::span<const std::uint32_t> grid, std::span<const std::size_t> digits)
      : digits_(digits), at_(grid.size(), 0) {
    std::uint32_t stride = 1;
    for (const std::uint32_t size : grid) {
      stride_.push_back(stride);
      stride *= size;
    }
  }

  // Each offset of an inner box, plus each of `inside`.
  std::vector<std::uint32_t> In(const Shape& box, const Shape& inner,
                                std::span<const std::uint32_t> inside) {
    std::vector<std::uint32_t> offsets;
    offsets.reserve(Volume(box));
    std::uint32_t here = 0;
    std::size_t k = 0;
    do {
      for (const std::uint32_t offset : inside) offsets.push_back(here + offset);
      for (k = 0; k < digits_.size(); ++k) {
        const std::size_t i = digits_[k];
        at_[i] += inner[i];
        here += inner[i] * stride_[i];
        if (at_[i] < box[i]) break;
        here -= at_[i] * stride_[i];
        at_[i] = 0;
      }
    } while (k < digits_.size());
    return offsets;
  }

 private:
  std::span<const std::size_t> digits_;
  Shape at_;  // zeros between calls
  Shape stride_;
};

}  // namespace

std::vector<std::uint32_t> Walk(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
                                std::span<const std::size_t> digits) {
  Offsets offsets(grid, digits);
  std::vector<std::uint32_t> walk = {0};
  Shape inner(grid.size(), 1);
  for (std::size_t depth = nest.size(); depth-- > 0;) {
    walk = offsets.In(nest[depth], inner, walk);
    inner = nest[depth];
  }
  return offsets.In(Shape(grid.begin(), grid.end()), inner, walk);
}

std::vector<std::size_t> HeaviestFirst(std::span<const double> weights) {
  std::vector<std::size_t> digits(weights.size());
  std::iota(digits.begin(), digits.end(), std::size_t{0});
  std::stable_sort(digits.begin(), digits.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  return digits;
}

// Sorts workers by the position at which their atoms first occur, widest tier first. Atoms nest, so
// one stable sort per tier, from narrow to wide, is enough.
void KeepAtomsTogether(const Instance& instance, std::vector<std::uint32_t>& workers) {
  if (!instance.has_groups()) return;
  std::vector<std::uint32_t> first(workers.size());
  const auto gather = [&](std::span<const std::uint32_t> atoms) {
    if (atoms.empty()) return;
    for (std::uint32_t i = static_cast<std::uint32_t>(workers.size()); i-- > 0;) {
      first[atoms[workers[i]]] = i;
    }
    std::stable_sort(workers.begin(), workers.end(), [&](std::uint32_t a, std::uint32_t b) {
      return first[atoms[a]] < first[atoms[b]];
    });
  };
  for (Tier t = instance.node_tier(); t >= 1; --t) gather(instance.soft_atoms(t));
  for (Tier t = instance.node_tier(); t >= 1; --t) gather(instance.hard_atoms(t));
}

std::vector<double> AxisWeights(const traffic::WorkerGraph& graph,
                                std::span<const std::uint32_t> grid) {
  std::vector<double> weights(grid.size(), 0);
  const DigitCodes codes(graph.workers(), grid);
  const auto digit = [&](std::uint32_t a, std::uint32_t b) { return codes.Widest(a, b); };
  if (grid.empty()) return weights;
  for (const traffic::Edge& edge : graph.edges()) {
    weights[digit(edge.a, edge.b)] += static_cast<double>(edge.bytes);
  }
  for (const traffic::Clique& clique : graph.cliques()) {
    for (std::size_t i = 1; i < clique.members.size(); ++i) {
      const auto& a = clique.members[i - 1];
      const auto& b = clique.members[i];
      weights[digit(a.worker, b.worker)] += static_cast<double>(clique.bytes_per_rank_pair) *
                                            a.ranks * b.ranks *
                                            static_cast<double>(clique.members.size()) / 4;
    }
  }
  for (double& weight : weights) weight /= graph.workers();
  return weights;
}

Shape BestTile(std::span<const std::uint32_t> grid, std::span<const std::uint32_t> inner,
               std::span<const double> weights, std::uint64_t room) {
  TileSearch search;
  search.grid = grid;
  search.inner = inner;
  search.weights = weights;
  search.room = room;
  std::uint64_t volume = 1;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    search.divisors.push_back(Divisors(grid[i] / inner[i]));
    volume *= inner[i];
  }
  search.tile.assign(inner.begin(), inner.end());
  search.best = search.tile;
  search.Visit(0, volume);
  return search.best;
}

}  // namespace weft::placement
