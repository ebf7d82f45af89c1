#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// One axis of a grid of vertices (workers, or whole units of them): lines of `size` vertices, and a
// lower bound of the bytes that the vertices of every line send each other, both directions added.
struct GridAxis {
  std::uint32_t size = 1;
  std::int64_t each = 0;    // any two
  std::int64_t along = 0;   // two neighbours, beyond that
  std::int64_t around = 0;  // the two ends, beyond that
  // A line of several digits may hold shorter lines: what their vertices send each other beyond
  // all that.
  std::vector<GridAxis> inside;

  // A lower bound of the bytes that leave m vertices of a line. A piece of a chain counts as cut at
  // both ends, also at the ends of the chain: Surplus() too much for each line, whatever its
  // pieces. (A chain in k pieces is cut k - 1 times, and its pieces have 2k ends.) Concave in m.
  double Leaving(std::uint64_t m) const;
  double Surplus() const;
};

// The axes of a grid (sizes of its digits, fastest first) that hold most bytes of `edges`. An axis
// is one digit, or several that follow each other: a ring of all ranks of a stage runs through all
// its digits, and holds the smaller rings of one digit inside. The axis with most bytes comes
// first; only this one has `inside`. Edges ascending.
//
// Cost  O(edges x digits^2), again for what is inside an axis of several digits.
std::vector<GridAxis> MeasureAxes(std::span<const traffic::Edge> edges,
                                  std::span<const std::uint32_t> grid);

}  // namespace weft::placement
