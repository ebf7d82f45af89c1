#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// The grid's lines as the surface bound sees them: one axis per digit, those without traffic merged
// into a neighbour.
struct GridAxis {
  std::uint32_t size = 1;
  double each = 0;    // least traffic between any two on a line
  double bytes = 0;   // between two neighbours, beyond that
  bool ring = false;  // a broken line separates two pairs of neighbours, else one

  bool silent() const { return each == 0 && bytes == 0; }
};

// Axes of the grid (sizes of its digits, fastest first) that `edges` fill; edges ascending.
std::vector<GridAxis> MeasureAxes(std::span<const traffic::Edge> edges,
                                  std::span<const std::uint32_t> grid);

// What leaves any set of s vertices of a grid, at least, for every s up to `most`.
//
// How: s vertices touch p_i lines of axis i with product(p_i) >= s^(k-1). A line of n vertices that
// is touched and not whole is cut between one or two pairs of neighbours, and at most
// (s - p_i) / (n - 1) of the touched ones are whole. Where all vertices of a line send to each
// other a part of m is cut from m (n - m) pairs. A chain counts one pair per broken line. Inner
// pieces of a chain are cut at both ends, so the chains may be taken as rings instead, if a phantom
// pair per line is taken off the whole job's sum.
//
// Cost    O(sizes x axes); sizes are looked at one by one while small, then on a geometric grid.
// Source  Loomis and Whitney, "An inequality related to the isoperimetric inequality", Bull. Amer.
//         Math. Soc. 55, 1949.
class LeastSurface {
 public:
  LeastSurface(std::span<const GridAxis> axes, std::uint64_t most, bool chains_as_rings);

  // Least bytes that leave any partition of `vertices` vertices into sets no larger than the
  // rooms, summed over the sets (so each pair twice). `rooms` descending, with how many sets may
  // be that large. The vertices may be part of the job.
  struct Room {
    std::uint64_t size = 0, count = 0;
  };
  double Sum(std::span<const Room> rooms, std::uint64_t vertices) const;

  double phantom() const { return phantom_; }
  // Least bytes that leave one set of so many vertices.
  double Of(std::uint64_t size) const {
    if (size == 0 || steps_.empty()) return 0;
    return StepOf(size)->least;
  }

 private:
  struct Step {
    std::uint64_t low, high;  // sizes
    double least;             // that leaves one set of such a size
    double each;              // least per vertex over all sizes up to `high`
  };
  std::vector<Step>::const_iterator StepOf(std::uint64_t size) const;
  double PerVertex(std::uint64_t room) const;
  double ByCount(std::span<const Room> rooms, std::uint64_t vertices) const;

  std::vector<Step> steps_;
  double phantom_ = 0;
};

}  // namespace weft::placement
