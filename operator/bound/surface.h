#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/bound/axes.h"

namespace weft::bound {

// A lower bound of the bytes that leave a set of vertices, by the size of the set. The grid is seen
// as slices stacked along an axis; the bound is computed from the same bound for the vertices of
// one slice.
//
// How: a set consists of one part in each slice. Sort the parts, largest first. The counts of
// vertices on the lines along the axis are least even if each part lies within the one before (Gale
// and Ryser), and the bytes that leave a line are concave in its count. So the axis costs at least
// Leaving(j + 1) - Leaving(j) for every vertex of part j = 0, 1, ...; the sizes of the parts are
// chosen for the least sum. For two axes this is exact.
//
// Cost    O(sum over sizes h of a part: min(slices, most / h) x most).
// Source  Gale, "A theorem on flows in networks", Pacific Journal of Mathematics 7, 1957; Ryser,
//         "Combinatorial properties of matrices of zeros and ones", Canadian J. Math. 9, 1957.
class SliceStack {
 public:
  SliceStack(const GridAxis& axis, std::span<const double> slice, std::uint64_t most,
             bool remember = false);

  const std::vector<double>& least() const { return least_; }  // by size
  // Adds `weight` to parts[c] for every part of c vertices of a cheapest set of `size` vertices.
  // Requires `remember`.
  void AddParts(std::uint64_t size, double weight, std::vector<double>& parts) const;

 private:
  std::vector<double> least_;
  std::vector<double> sum_;            // the least bytes with j parts: j x size
  std::vector<std::uint32_t> lowest_;  // size of the smallest of these parts
};

// A lower bound of the bytes that leave any set of s vertices of a grid, for every s up to `most`.
// Slices are stacked axis by axis. If that takes too many steps, the bound for large sets uses the
// lines that they touch: s vertices touch p_i lines of axis i with product(p_i) >= s^(k-1).
//
// Source  Loomis and Whitney, "An inequality related to the isoperimetric inequality", Bull. Amer.
//         Math. Soc. 55, 1949.
class LeastSurface {
 public:
  LeastSurface(std::span<const GridAxis> axes, std::uint64_t most);

  const std::vector<double>& leaving() const { return leaving_; }  // by size
  // By how much the sum of `leaving` over the parts of a partition of all vertices is too high: to
  // be subtracted from it.
  double surplus() const { return surplus_; }

 private:
  std::vector<double> leaving_;
  double surplus_ = 0;
};

// The bound for sets of s vertices, for every s up to `most`, by stacked slices only.
std::vector<double> StackAll(std::span<const GridAxis> axes, std::uint64_t most);

}  // namespace weft::bound
