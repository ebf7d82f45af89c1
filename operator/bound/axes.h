#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/units.h"

namespace weft::bound {

// One axis of a grid of vertices (workers or units): its lines have `size` vertices. The fields
// are lower bounds of the bytes that the vertices of each line exchange, both directions added.
struct GridAxis {
  std::uint32_t size = 1;
  std::int64_t each = 0;    // between any two vertices
  std::int64_t along = 0;   // between two neighbours, on top of `each`
  std::int64_t around = 0;  // between the two ends, on top of `each`
  // Shorter lines inside a line of several digits: the bytes that their vertices exchange on top of
  // the fields above.
  std::vector<GridAxis> inside;

  // A lower bound of the bytes that leave m vertices of a line; concave in m. Each piece of a chain
  // is counted as cut at both ends, even at the chain's own ends, so the sum over a line is too
  // high by Surplus(), however the line is cut. (k pieces have 2k ends, but only k - 1 cuts.)
  double Leaving(std::uint64_t m) const;
  double Surplus() const;
};

// The axes that carry the most bytes of `edges` in a grid (sizes of its digits, fastest first). An
// axis is one digit or several consecutive ones: a ring of all ranks of a stage runs through
// several digits and has smaller rings of one digit inside. The axis with the most bytes comes
// first; only it has `inside`. Precondition: `edges` ascend.
//
// Cost  O(edges x digits^2), twice if the first axis has several digits.
std::vector<GridAxis> MeasureAxes(std::span<const objective::UnitEdge> edges,
                                  std::span<const std::uint32_t> grid);

}  // namespace weft::bound
