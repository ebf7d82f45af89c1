#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/placement/instance.h"

namespace weft::placement {

// A cost that no placement of the instance can beat.
//
// The cost is, tier by tier, the step in weight towards the next wider tier times the bytes that
// cross between domains of the tier. Those bytes are bounded from below in two ways, and the
// larger counts:
//   - by degree: in a domain with room for K workers each worker keeps at most its K - 1 heaviest
//     neighbours, so the rest of its bytes cross;
//   - by surface: in the grid of axes, s workers touch p_i lines of axis i with
//     product(p_i) >= s^(k-1), at most floor(s / n_i) of the lines are whole, and each broken ring
//     is cut twice. So the bytes that leave a domain of room K are at least K times the least
//     surface per worker over all s <= K, and larger domains are filled first.
// Cliques add their own: M members spread over domains of room K leave at least
// (M^2 - sum of squares of the fullest parts) / 2 pairs apart.
//
// Cost    O(workers x axes + edges + domains), and a bounded numeric search per tier.
// Source  Loomis and Whitney, "An inequality related to the isoperimetric inequality", Bull. Amer.
//         Math. Soc. 55, 1949.
Int128 LowerBound(const Instance& instance);

// The grid's lines as the surface bound sees them: one per digit, those without traffic merged
// into a neighbour.
struct GridAxis {
  std::uint32_t size = 1;
  double bytes = 0;  // least traffic between two neighbours on a line
  double cuts = 1;   // pairs that a broken line separates at least: 2 on a ring of 3 or more

  double price() const { return bytes * cuts; }
};
std::vector<GridAxis> GridAxes(const Instance& instance);

// Least bytes per worker that leave any set of at most so many workers, for every size up to
// `most`: looked at one by one while small, then on a geometric grid, from below.
class LeastSurface {
 public:
  LeastSurface(std::span<const GridAxis> axes, std::uint64_t most);

  // 0 without axes. `room` at most `most`.
  double At(std::uint64_t room) const;

 private:
  struct Step {
    std::uint64_t end;  // sizes up to this one
    double least;       // over all sizes so far
  };
  std::vector<Step> steps_;
};

}  // namespace weft::placement
